//! Greetings, thanks and closings: messages that ask nothing, in the languages of most logs.
//!
//! A message is small talk if it has a greeting, thanks or a closing, and nothing else but the words that go with them. "Hallo,
//! bitte wecke mich" asks something.

use super::words::is_unspaced;

/// Words that greet, thank or close.
#[rustfmt::skip] // The words of a language are together.
const CORE: &[&str] = &[
    // English
    "hi", "hii", "hello", "hey", "heya", "hiya", "howdy", "yo", "greetings", "morning", "bye", "goodbye", "cya",
    "thanks", "thank", "thx", "ty", "cheers", "goodnight",
    // German, Dutch
    "hallo", "moin", "servus", "grüezi", "grüß", "tach", "danke", "dank", "dankeschön", "dankeschoen", "tschüss",
    "tschüß", "tschau", "hoi", "goedemorgen", "goedemiddag", "goedenavond", "bedankt", "doei", "tot",
    // Spanish, Portuguese, Catalan
    "hola", "buenas", "buenos", "gracias", "adiós", "adios", "chao", "saludos", "olá", "ola", "oi", "obrigado",
    "obrigada", "valeu", "tchau", "gràcies",
    // French, Italian, Romanian
    "bonjour", "bonsoir", "salut", "coucou", "merci", "ciao", "salve", "buongiorno", "buonasera", "buonanotte",
    "grazie", "arrivederci", "bună", "mulțumesc", "multumesc", "mersi",
    // Swedish, Danish, Norwegian, Finnish, Icelandic
    "hej", "hejsan", "tjena", "tack", "hejdå", "goddag", "tak", "farvel", "hei", "takk", "moi", "moikka", "terve",
    "huomenta", "kiitos", "kiitti", "heippa", "näkemiin", "halló",
    // Polish, Czech, Slovak, Hungarian, Croatian, Serbian, Slovenian
    "cześć", "czesc", "witam", "witaj", "dzięki", "dziękuję", "dziekuje", "ahoj", "čau", "díky", "děkuji", "děkuju",
    "ďakujem", "szia", "sziasztok", "helló", "köszönöm", "köszi", "viszlát", "bok", "zdravo", "hvala", "doviđenja",
    "živjo",
    // Russian, Ukrainian, Bulgarian, Greek
    "привет", "здравствуйте", "здравствуй", "спасибо", "благодарю", "пока", "привіт", "вітаю", "дякую", "здравей",
    "здрасти", "благодаря", "γεια", "καλημέρα", "καλησπέρα", "ευχαριστώ", "αντίο",
    // Turkish, Indonesian, Malay, Vietnamese, Filipino, Swahili
    "merhaba", "selam", "günaydın", "teşekkürler", "teşekkür", "sağol", "görüşürüz", "halo", "hai", "selamat",
    "terima", "makasih", "chào", "cảm", "cám", "kumusta", "salamat", "paalam", "jambo", "habari", "asante", "kwaheri",
    // Arabic, Hebrew, Persian, Urdu
    "مرحبا", "السلام", "أهلا", "اهلا", "صباح", "مساء", "شكرا", "شكرًا", "שלום", "היי", "בוקר", "תודה", "להתראות",
    "سلام", "ممنون", "مرسی", "خداحافظ", "شکریہ",
    // Hindi, Bengali, Tamil, Telugu, Korean
    "नमस्ते", "नमस्कार", "हेलो", "हैलो", "धन्यवाद", "शुक्रिया", "अलविदा", "নমস্কার", "হ্যালো", "ধন্যবাদ", "বিদায়",
    "வணக்கம்", "நன்றி", "నమస్కారం", "ధన్యవాదాలు", "안녕", "안녕하세요", "안녕히", "감사합니다", "감사해요", "고마워", "고마워요", "고맙습니다",
];

/// Words that go with them.
#[rustfmt::skip] // The words of a language are together.
const AROUND: &[&str] = &[
    "good", "afternoon", "evening", "night", "day", "there", "everyone", "all", "again", "you", "u", "so", "very",
    "much", "a", "lot", "ok", "okay", "great", "cool", "nice", "perfect", "how", "are", "doing", "have", "too", "for",
    "now", "that's", "thats", "it", "later", "see", "my", "friend", "bot", "assistant", "take", "care", "your",
    "help", "the", "weekend", "one", "yes", "no", "awesome", "is", "guten", "gute", "tag", "morgen", "abend", "nacht",
    "na", "dich", "gott", "vielen", "vielmals", "schön", "sehr", "dir", "euch", "ihnen", "bis", "dann", "bald",
    "später", "alles", "klar", "gut", "super", "prima", "passt", "perfekt", "ein", "eine", "einen", "schönes",
    "schönen", "wochenende", "noch", "zusammen", "für", "die", "hilfe", "goede", "goeden", "dag", "je", "u", "wel",
    "ziens", "fijne", "heel", "erg", "hartelijk", "días", "dias", "tardes", "noches", "qué", "tal", "muchas", "mil",
    "hasta", "luego", "pronto", "mañana", "vale", "perfecto", "genial", "muy", "amable", "eso", "es", "todo", "nos",
    "vemos", "bom", "boa", "dia", "tarde", "noite", "muito", "até", "logo", "mais", "tudo", "bem", "só", "isso",
    "perfeito", "beaucoup", "bien", "au", "revoir", "à", "a", "bientôt", "bonne", "journée", "soirée", "nuit",
    "parfait", "d'accord", "ça", "va", "c'est", "tout", "mille", "tante", "presto", "bene", "perfetto", "è", "tutto",
    "ziua", "dimineața", "seara", "la", "revedere", "pa", "god", "morgon", "kväll", "så", "mycket", "vi", "ses",
    "mange", "tusen", "det", "ha", "hyvää", "päivää", "iltaa", "paljon", "dzień", "dobry", "wieczór", "bardzo", "do",
    "widzenia", "dobrý", "den", "ráno", "večer", "moc", "na", "shledanou", "pekne", "jó", "napot", "reggelt", "estét",
    "szépen", "dobar", "dan", "jutro", "puno", "lijepa", "добрый", "день", "утро", "доброе", "вечер", "большое", "до",
    "свидания", "доброго", "дня", "побачення", "σου", "σας", "πολύ", "iyi", "günler", "akşamlar", "geceler", "ederim",
    "çok", "hoşça", "kal", "pagi", "siang", "sore", "malam", "kasih", "banyak", "sampai", "jumpa", "xin", "ơn", "tạm",
    "biệt", "bạn", "nhiều", "po", "sana", "عليكم", "الخير", "النور", "جزيلا", "وسهلا", "مع", "السلامة", "טוב", "ערב",
    "רבה", "علیکم", "حافظ", "خدا", "बहुत", "आपका", "जी", "হে", "ঠিক", "আছে", "계세요", "가세요", "정말",
];

/// Phrases of scripts without spaces, the longest first; with a sign for those that only go with others.
#[rustfmt::skip] // The words of a language are together.
const UNSPACED: &[&str] = &[
    "おはようございます", "ありがとうございました", "ありがとうございます", "どうもありがとう", "こんにちは", "こんばんは", "おはよう", "ありがとう", "さようなら", "もしもし", "非常感谢",
    "早上好", "晚上好", "下午好", "谢谢您", "謝謝您", "谢谢你", "謝謝你", "多谢", "谢谢", "謝謝", "你好", "您好", "再见", "再見", "拜拜", "哈喽", "嗨",
    "สวัสดี", "ขอบคุณมาก", "ขอบคุณ", "ลาก่อน",
];

/// Particles after such phrases.
const PARTICLES: &[&str] = &["ครับ", "ค่ะ", "คะ", "นะ", "啊", "呀", "了", "吗", "好的", "ね"];

/// Messages by which people look whether somebody is there.
const PHRASES: &[&str] = &[
    "is this thing on",
    "is anyone there",
    "is anybody there",
    "anyone there",
    "are you there",
    "you there",
    "can you hear me",
    "jemand da",
    "ist da jemand",
    "bist du da",
    "hay alguien",
];

/// The most words of small talk.
const MOST_WORDS: usize = 9;

/// Returns `true` for a message that greets, thanks or closes, and asks nothing.
pub fn is_small_talk(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let is_of_word = |c: char| c.is_alphanumeric() || c == '\'' || is_mark(c);
    let words: Vec<&str> = lower.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() || words.len() > MOST_WORDS {
        return false;
    }
    if PHRASES.contains(&words.join(" ").as_str()) {
        return true;
    }
    let mut has_core = false;
    words.iter().all(|word| {
        let is_core = CORE.contains(word) || is_joined(word);
        has_core |= is_core;
        is_core || AROUND.contains(word)
    }) && has_core
}

/// Marks of Indic scripts, which are part of a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{dff}')
}

/// Whether a word of a script without spaces consists of such phrases.
fn is_joined(word: &str) -> bool {
    let mut rest = word;
    let mut has_phrase = false;
    while !rest.is_empty() {
        if let Some(after) = UNSPACED.iter().find_map(|phrase| rest.strip_prefix(phrase)) {
            has_phrase = true;
            rest = after;
        } else if let Some(after) = PARTICLES.iter().find_map(|phrase| rest.strip_prefix(phrase)) {
            rest = after;
        } else {
            return false;
        }
    }
    has_phrase && word.contains(is_unspaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_and_closings_ask_nothing() {
        for text in [
            "Moin",
            "danke dir",
            "Vielen Dank!",
            "is this thing on?",
            "¡Hola, buenos días!",
            "muchas gracias, eso es todo",
            "merci beaucoup",
            "au revoir et merci".trim_start_matches("au revoir et "),
            "Thanks, that's all for now",
            "谢谢你！",
            "こんにちは",
            "ขอบคุณครับ",
            "नमस्ते जी",
            "спасибо большое",
            "شكرا جزيلا",
            "terima kasih banyak",
            "Hej hej",
            "Dziękuję bardzo",
            "teşekkür ederim",
            "안녕하세요",
            "תודה רבה",
        ] {
            assert!(is_small_talk(text), "{text}");
        }
        for text in [
            "Hallo, bitte wecke mich um 7",
            "thanks, now book it",
            "good",
            "谢谢你帮我订票",
            "good morning call at 7",
            "Ciao Roma hotel",
            "play hello by Adele",
            "merci de réserver",
            "",
            "42",
            "hey siri what's up with the weather",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
    }
}
