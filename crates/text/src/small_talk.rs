//! Greetings, thanks and closings: messages that ask nothing, in the languages of most logs.
//!
//! A message is small talk if it has a greeting, thanks or a closing, and nothing else but the words that go with them in the
//! same language. "Hallo, bitte wecke mich" asks something, and a word of another language may be a name.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::words::is_unspaced;

/// The words of a language.
struct Vocabulary {
    /// Words that greet, thank or close; with a low line, two words that do so together.
    core: &'static str,
    /// Words that go with them: wishes, yes and no, words of address, "that is all".
    around: &'static str,
}

/// Words that people of all languages use.
const OF_ALL: Vocabulary = Vocabulary {
    core: "thanks hi hii hello hey ciao bye thx ty tnx merci hola salut salam tschau",
    around: "ok oke okay okey super bravo top haha hehe lol xd no bot admin",
};

#[rustfmt::skip] // The words of a language are together.
const LANGUAGES: &[Vocabulary] = &[
    // English
    Vocabulary {
        core: "heya hiya howdy yo gm happy_new merry_christmas happy_birthday happy_easter greetings morning goodbye cya thanks thank cheers goodnight gn ta thanx tysm \
            good_evening good_afternoon good_day good_night see_you see_ya bye_bye take_care",
        around: "good afternoon evening kindly year birthday christmas happy holidays m8 best you're legend star night day there everyone everybody all again you ya u so very much a an lot \
            lots ton bunch million great cool nice perfect lovely brilliant wonderful fantastic excellent amazing fine \
            how are r is it's it doing going have has been too for now that's thats that this then later soon tomorrow \
            around see talk to catch my friend mate mates bro buddy pal man dude guys folks team sir madam ma'am miss \
            love dear chatbot assistant take care your ur kind help helping assistance time patience the weekend one \
            yes yeah yep yup sure awesome and i i'm im appreciate we're done nothing else more from me us today well \
            of course no_problem what's up",
    },
    // German
    Vocabulary {
        core: "hallo moin servus grüezi grüß gruß grüße tach danke dank dankeschön dankeschoen tschüss tschüß tschuess \
            tschö guten_tag guten_morgen guten_abend gute_nacht schönen_tag schönen_abend schönes_wochenende bis_bald \
            bis_dann bis_später wiedersehen mahlzeit",
        around: "guten gute tag morgen abend nacht na dich gott vielen vielmals herzlichen herzliche lieben liebe \
            schön sehr recht dir euch ihnen bis dann bald später alles klar gut prima passt perfekt toll klasse ein \
            eine einen schönes schönen tollen wochenende feierabend noch zusammen leute alle für die hilfe das wars \
            war's war ja nein auf auch und mal erstmal",
    },
    // Dutch
    Vocabulary {
        core: "hallo hoi goedemorgen goedemiddag goedenavond bedankt dank dankjewel dankuwel doei tot_ziens tot_straks \
            goede_morgen fijne_dag fijne_avond groetjes dag",
        around: "goede goeden morgen middag avond nacht je u wel ziens fijne prettige dag weekend heel erg hartelijk \
            tot later straks morgen snel prima perfect top fijn mooi ja nee dat is was alles voor de hulp nog een en \
            allemaal",
    },
    // Spanish
    Vocabulary {
        core: "buenas buenos gracias adiós adios chao chau saludos hasta_luego hasta_pronto hasta_mañana buen_día \
            nos_vemos",
        around: "días dias día dia tardes tarde noches noche qué que tal muchas muchísimas mil hasta luego pronto \
            mañana vale perfecto genial estupendo muy amable eso es todo nos vemos buen buena un una saludo cordial \
            amigo amiga señor señora sí si por tu su la ayuda de nada ya está listo bien igualmente y a todos fin \
            semana",
    },
    // Portuguese
    Vocabulary {
        core: "olá ola oi obg vlw obrigado obrigada obrigadão valeu tchau adeus bom_dia boa_tarde boa_noite até_logo até_já \
            até_amanhã até_breve brigado brigada",
        around: "bom boa dia tarde noite muito muita até logo já breve amanhã mais tudo bem só isso era é perfeito \
            ótimo excelente beleza amigo amiga cara mano senhor senhora pessoal a o e um uma trabalho fim semana de \
            pela por sua ajuda sim não nada certo fixe continuação resto",
    },
    // French
    Vocabulary {
        core: "bonjour bonsoir coucou bonne_journée bonne_soirée bonne_nuit au_revoir à_bientôt a_bientôt adieu",
        around: "beaucoup bien au revoir à a bientôt bonne bon journée soirée nuit week end weekend courage parfait \
            génial d'accord ça va c'est tout c'était mille grand très gentil monsieur madame l'ami les amis tous \
            toutes et vous toi pour votre ton aide oui non voilà rien plus demain",
    },
    // Italian
    Vocabulary {
        core: "salve buongiorno buonasera buonanotte grazie arrivederci arrivederla saluti buona_giornata buona_serata \
            a_presto buon_lavoro",
        around: "mille tante molte presto bene perfetto ottimo benissimo è tutto questo buona buon giornata serata \
            notte lavoro a dopo domani gentile gentilissimo gentilissima ragazzi amico signore signora tutti sì si no \
            va per il l'aiuto e molto",
    },
    // Romanian
    Vocabulary {
        core: "bună buna mulțumesc multumesc mulțam mersi salutare noroc la_revedere o_zi",
        around: "ziua ziua dimineața seara noapte la revedere pa frumos mult tare foarte perfect bine e tot asta atât \
            zi o bună frumoasă seară da nu domnule doamnă prieteni pentru ajutor pe curând și",
    },
    // Catalan
    Vocabulary { core: "gràcies adéu bon_dia bona_tarda bona_nit", around: "moltes fins bon bona dia tarda nit després \
        tot bé això és" },
    // Swedish
    Vocabulary {
        core: "hej hejsan tjena tack hejdå hälsningar god_morgon god_kväll ha_det vi_ses",
        around: "god morgon kväll natt så mycket tusen snälla vi ses det ha bra fint var allt dag en trevlig helg då \
            alla för hjälpen ja nej perfekt toppen kompis hej",
    },
    // Danish, Norwegian
    Vocabulary {
        core: "hej hei hallo goddag tak takk farvel hilsen god_morgen god_aften god_kveld ha_det vi_ses hejhej",
        around: "mange tusind tusen god morgen aften kveld dag natt nat det ha bra fint godt var alt så mye meget vi \
            ses sees for hjælpen hjelpen en fin dejlig weekend helg ja nej nei perfekt alle sammen skal du have",
    },
    // Finnish
    Vocabulary {
        core: "hei moi moikka terve huomenta kiitos kiitti heippa näkemiin moro päivää iltaa öitä heissan",
        around: "hyvää hyvä päivää iltaa yötä paljon oikein tässä kaikki oli se hienoa selvä joo kyllä ei viikonloppua \
            jatkoa päivänjatkoa kaikille avusta",
    },
    // Icelandic
    Vocabulary { core: "halló takk bless góðan_dag", around: "góðan dag fyrir kvöld gott" },
    // Polish
    Vocabulary {
        core: "cześć czesc hej hejka siema witam witaj dzięki dzieki dziękuję dziekuje dzięks pozdrawiam dobranoc \
            dzień_dobry dobry_wieczór dobry_wieczor dzien_dobry do_widzenia do_zobaczenia na_razie miłego_dnia nara \
            pa",
        around: "dzień dzien dobry dobrego dnia wieczór wieczoru wieczor miłego milego bardzo serdecznie wielkie do \
            widzenia zobaczenia usłyszenia jutra na razie to wszystko już juz tyle za pomoc świetnie swietnie dobrze \
            dobra jasne spoko tak nie pan pani panu szefie kolego wszystkim państwu i w porządku z mojej strony \
            weekendu",
    },
    // Czech, Slovak
    Vocabulary {
        core: "ahoj čau čus díky diky děkuji dekuji děkuju ďakujem dakujem nashledanou zdravím dobrý_den dobré_ráno \
            dobrý_večer dobrú_noc dobrou_noc na_shledanou dovidenia pekný_den hezký_den pěkný_den pekný_deň \
            dobrý_deň",
        around: "dobrý dobré dobrou mějte se mej hezky den deň ráno večer noc moc mockrát pěkně pekne na shledanou krásný hezký pěkný \
            pekný víkend to je bylo vše všechno všetko za pomoc pro dnes super skvěle výborně jasně ano jo ne zatím \
            všem vám ti a",
    },
    // Hungarian
    Vocabulary {
        core: "szia sziasztok helló szervusz üdv köszönöm köszi köszönjük szép_estét viszlát viszontlátásra jó_napot jó_reggelt \
            jó_estét jó_éjszakát szép_napot jó_éjt",
        around: "jó napot reggelt estét éjszakát szép szépen nagyon a az kívánok mindent ennyi volt lenne csak további \
            segítséget mindenkinek rendben tökéletes igen nem hétvégét munkát legyen",
    },
    // Croatian, Serbian, Slovenian
    Vocabulary {
        core: "bok zdravo hvala doviđenja dovidjenja živjo ćao dobar_dan dobro_jutro dobra_večer dobro_veče laku_noć \
            lep_pozdrav pozdrav adijo nasvidenje",
        around: "dobar dobro dan jutro večer veče dobra puno lijepa lepo lijepo mnogo najlepša to je bilo sve vse na \
            pomoći super odlično da ne i vama ugodan lep lijep",
    },
    // Russian
    Vocabulary {
        core: "привет здравствуйте здравствуй спасибо спс благодарю пока приветствую добрый_день доброе_утро \
            добрый_вечер до_свидания спокойной_ночи всего_доброго всего_хорошего хорошего_дня удачи",
        around: "добрый доброе день утро вечер ночи большое огромное вам тебе до свидания завтра встречи всего \
            хорошего доброго дня вечера это всё все на сегодня отлично супер хорошо понятно ясно да нет ок за помощь \
            всем друг брат ребята и очень выходных",
    },
    // Ukrainian
    Vocabulary {
        core: "привіт вітаю дякую дяки бувай добрий_день доброго_ранку добрий_вечір до_побачення на_все",
        around: "добрий доброго день ранку вечір дня вечора дуже щиро велике вам тобі до побачення це все на сьогодні \
            добре чудово супер так ні за допомогу гарного всім",
    },
    // Bulgarian, Macedonian
    Vocabulary {
        core: "здравей здравейте здрасти благодаря мерси довиждане добър_ден добро_утро добър_вечер лека_нощ чао",
        around: "добър добро ден утро вечер много това е всичко хубав лек за помощта да не добре супер ви ти приятен",
    },
    // Greek
    Vocabulary {
        core: "γεια γειά καλημέρα καλημερα καλησπέρα καλησπερα καληνύχτα καληνυχτα ευχαριστώ ευχαριστω ευχαριστούμε \
            αντίο αντιο χαίρετε χαιρετε γειάσου καλό_βράδυ καλο_βραδυ καλή_συνέχεια καλή_μέρα τα_λέμε τα_λεμε",
        around: "σου σας πολύ πολυ παρα πάρα και καλό καλο καλή καλη βράδυ βραδυ μέρα μερα μέρας ημέρα απόγευμα \
            συνέχεια δουλειά σε όλους ολους όλα ολα αυτά αυτα ήταν ηταν ναι όχι οχι εντάξει ενταξει τέλεια τελεια \
            ωραία ωραια φίλε φιλε κύριε τα λέμε λεμε για τη βοήθεια",
    },
    // Turkish
    Vocabulary {
        core: "merhaba merhabalar selam selamlar günaydın gunaydin teşekkürler tesekkurler teşekkür tesekkur sağol \
            sağolun sagol sagolun sağolasın eyvallah görüşürüz gorusuruz hoşçakal hoşçakalın hoscakal iyi_günler \
            iyi_gunler iyi_akşamlar iyi_aksamlar iyi_geceler iyi_çalışmalar kolay_gelsin sağ_ol sağ_olun sag_ol \
            sag_olun kendine_iyi aleykümselam",
        around: "iyi günler gunler eline elinize emeğine sağlık akşamlar aksamlar geceler sabahlar çalışmalar hafta sonları tatiller ederim ederiz \
            çok cok bol sağ sag ol olun olsun hoşça kal kalın kolay gelsin kendine bak bu kadar bukadar hepsi tamam \
            tamamdır peki evet hayır harika süper mükemmel abi abla hocam kanka kardeşim kardeş dostum efendim bey \
            hanım arkadaşlar herkese size sana da yardımın için her şey",
    },
    // Indonesian, Malay
    Vocabulary {
        core: "halo hai hallo selamat_pagi selamat_siang selamat_sore selamat_malam selamat_tinggal terima_kasih \
            terimakasih makasih makasi mksh trims trimakasih thanks permisi dadah pagi sampai_jumpa assalamualaikum \
            tq",
        around: "selamat pagi siang sore malam petang kasih terima banyak sampai jumpa besok nanti ya iya yaa kak \
            kakak min gan bang pak bu bapak ibu mas mbak om bro sis semua semuanya itu aja saja dulu sudah udah cukup \
            baik oke sip siap mantap bagus atas bantuannya infonya sama juga untuk hari ini deh dong sekali tidak ada \
            lagi",
    },
    // Vietnamese
    Vocabulary {
        core: "chào cảm_ơn cám_ơn cảm_on xin_chào tạm_biệt cảm cám",
        around: "xin chào ơn tạm biệt bạn nhiều rất anh chị em ad shop buổi sáng chiều tối ngủ ngon nhé nha ạ vâng dạ \
            được rồi tốt quá thế là đủ hẹn gặp lại mọi người các",
    },
    // Filipino, Swahili
    Vocabulary { core: "kumusta kamusta salamat paalam magandang_umaga magandang_hapon magandang_gabi", around: "po sa \
        inyo iyo maraming marami magandang umaga hapon gabi araw lahat yun lang na ingat opo oo sige" },
    Vocabulary { core: "jambo habari asante kwaheri hujambo mambo shikamoo", around: "sana yako ya asubuhi jioni leo \
        za nashukuru ni hayo tu sawa ndiyo rafiki siku njema" },
    // Arabic
    Vocabulary {
        core: "مرحبا مرحباً السلام أهلا اهلا أهلاً صباح مساء شكرا شكرًا شكراً وداعا وداعاً سلام",
        around: "عليكم ورحمة الله وبركاته الخير النور جزيلا جزيلاً وسهلا وسهلاً مع السلامة لك لكم كثيرا يا أخي صديقي \
            هذا كل شيء تمام ممتاز نعم لا حسنا جدا إلى اللقاء",
    },
    // Hebrew
    Vocabulary { core: "שלום היי הי תודה להתראות ביי בוקר_טוב ערב_טוב לילה_טוב", around: "בוקר ערב לילה טוב רבה לך לכם \
        מאוד זה הכל מעולה סבבה אחי כן לא יום נעים" },
    // Persian, Urdu
    Vocabulary { core: "سلام درود ممنون مرسی خداحافظ متشکرم سپاس تشکر صبح_بخیر شب_بخیر عصر_بخیر", around: "خیلی از شما \
        خسته نباشید صبح شب عصر بخیر خدا حافظ همین بود عالی باشه دوست عزیز" },
    Vocabulary { core: "سلام السلام شکریہ خداحافظ آداب", around: "علیکم حافظ خدا بہت آپ کا صبح شام بخیر جی بھائی بس \
        یہی" },
    // Hindi
    Vocabulary {
        core: "नमस्ते नमस्कार हेलो हैलो धन्यवाद शुक्रिया अलविदा प्रणाम namaste namaskar dhanyavad dhanyawad shukriya \
            राम_राम",
        around: "बहुत आपका आपको जी भाई भैया सर मैडम शुभ प्रभात रात्रि दिन संध्या बस इतना ही ठीक है अच्छा हाँ हां राम \
            फिर मिलेंगे सब bahut aapka ji bhai sir bas itna hi theek hai",
    },
    // Bengali, Tamil, Telugu
    Vocabulary { core: "নমস্কার হ্যালো ধন্যবাদ বিদায় সালাম শুভ_সকাল শুভ_রাত্রি", around: "অনেক আপনাকে হে ঠিক আছে শুভ \
        সকাল রাত্রি ভাই দাদা এটুকুই" },
    Vocabulary { core: "வணக்கம் நன்றி", around: "மிக்க மிகவும் ரொம்ப காலை மாலை சரி அவ்வளவுதான்" },
    Vocabulary { core: "నమస్కారం నమస్తే ధన్యవాదాలు", around: "చాలా అండి సరే శుభోదయం" },
    // Korean
    Vocabulary {
        core: "안녕 안녕하세요 안녕하십니까 안녕히 감사합니다 감사해요 감사드립니다 고마워 고마워요 고맙습니다 반갑습니다 반가워요 잘가 수고하세요 수고하셨습니다",
        around: "계세요 가세요 정말 진짜 너무 네 예 넵 좋아요 좋은 하루 되세요 보내세요 아침 저녁 밤 여러분 그게 다예요 대단히 오늘도 또 만나요",
    },
];

/// The languages whose core, and whose other words, a word or two belong to; a bit for each language.
static WORDS: LazyLock<FxHashMap<&'static str, (u64, u64)>> = LazyLock::new(|| {
    let mut words: FxHashMap<&'static str, (u64, u64)> = FxHashMap::default();
    let mut add = |vocabulary: &Vocabulary, languages: u64| {
        vocabulary.core.split(' ').for_each(|word| words.entry(word).or_default().0 |= languages);
        vocabulary.around.split(' ').for_each(|word| words.entry(word).or_default().1 |= languages);
    };
    add(&OF_ALL, u64::MAX);
    LANGUAGES.iter().enumerate().for_each(|(at, vocabulary)| add(vocabulary, 1 << at));
    words
});

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
    if words.iter().all(|word| is_joined(word)) {
        return true;
    }
    // The languages that have all words, and those of which one greets, thanks or closes.
    let (mut languages, mut with_core) = (u64::MAX, 0);
    let mut at = 0;
    while at < words.len() && languages != 0 {
        let pair = words.get(at + 1).map(|next| format!("{}_{next}", words[at]));
        if let Some((core, _)) = pair.and_then(|pair| WORDS.get(pair.as_str())) {
            languages &= core | of_word(words[at]).1 & of_word(words[at + 1]).1;
            with_core |= core;
            at += 2;
        } else {
            let (core, around) = of_word(words[at]);
            languages &= core | around;
            with_core |= core;
            at += 1;
        }
    }
    languages & with_core != 0
}

/// The languages of a word, also if it is drawn out: "heyyy".
fn of_word(word: &str) -> (u64, u64) {
    WORDS.get(word).or_else(|| WORDS.get(shortened(word)?.as_str())).copied().unwrap_or_default()
}

/// A word without letters that are repeated more than twice; `None` if it has none.
fn shortened(word: &str) -> Option<String> {
    let letters: Vec<char> = word.chars().collect();
    if !letters.windows(3).any(|three| three[0] == three[1] && three[1] == three[2]) {
        return None;
    }
    let mut short: Vec<char> = letters;
    short.dedup();
    Some(short.into_iter().collect())
}

/// Marks of Indic scripts and of Thai, which are part of a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}')
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
            "good evening everyone",
            "thank you so much, have a great day!",
            "cheers buddy 🙏",
            "heyyy there",
            "ok perfect, thanks mate. that's all for today",
            "lovely, cheers. see you",
            "Guten Abend zusammen",
            "herzlichen Dank, schönes Wochenende",
            "hartelijk dank, fijne dag nog",
            "buenas tardes a todos",
            "obrigada e boa semana",
            "merci, bonne journée à vous",
            "grazie mille e buon lavoro",
            "mulțumesc frumos, o zi bună",
            "tack så mycket, ha det bra",
            "kiitos paljon, hyvää viikonloppua",
            "dzięki, to już wszystko 👋",
            "dzień dobry",
            "děkuji moc, hezký den",
            "köszönöm szépen, szép napot",
            "hvala puno, ugodan dan",
            "добрый вечер",
            "дякую, гарного дня",
            "καλησπέρα σε όλους",
            "ευχαριστω πολυ, γεια σας",
            "sağ olun iyi günler",
            "kolay gelsin hocam",
            "oke makasih ya min, dadah",
            "pagi kak",
            "cảm ơn bạn nhiều nhé",
            "xin chào",
            "salamat po",
            "asante sana rafiki",
            "السلام عليكم ورحمة الله",
            "بہت شکریہ",
            "बहुत बहुत धन्यवाद भाई",
            "네 감사합니다",
            "谢谢 再见",
            "ขอบคุณมากค่ะ",
            "happy new year!",
            "eso es todo thanks",
            "No, thank you!",
            "Merci, au revoir",
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
            "hello world program",
            "good evening flights",
            "ok google play jazz",
            "thanks for all the fish recipe",
            "say thank you in Polish",
            "send bye to Marek",
            "danke Rechnung",
            "dzień dobry, jaka pogoda",
            "merhaba fiyat nedir",
            "selamat pagi kopi dua",
            "bom dia vietnã",
            "gracias por cancelar",
            "no",
            "ok",
            "yes please",
            "ciao bella pizza",
            "감사합니다 카드",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
    }
}
