//! Words by which people and models say no, apologise, correct and close, in the languages of most logs.
//!
//! A list never decides that a call worked. A missing word costs a doubt or a correction that other signs may still show; a
//! word too many costs a verified answer. Words of scripts without spaces, and stems that end in `-`, match inside of words.

use callsieve_text::words::is_unspaced;

/// Words that deny something: a reply that has one in its first sentence may report a failure.
#[rustfmt::skip] // The words of a language are together.
pub(super) const NEGATIONS: &[&str] = &[
    // English
    "not", "no", "none", "nothing", "never", "cannot", "can't", "couldn't", "isn't", "wasn't", "aren't", "doesn't",
    "didn't", "won't", "unable", "unavailable",
    // German, Dutch
    "nicht", "kein", "keine", "keinen", "keinem", "keiner", "nichts", "niet", "geen", "niets",
    // Spanish, French, Italian, Portuguese, Romanian, Catalan
    "ningún", "ninguna", "ninguno", "nada", "nunca", "sin", "pas", "aucun", "aucune", "rien", "jamais", "non",
    "nessun", "nessuno", "nessuna", "niente", "não", "nao", "nenhum", "nenhuma", "nu a", "nu am", "nu este", "nu s-a",
    "nu există",
    // Swedish, Norwegian, Danish, Finnish
    "inte", "ingen", "inga", "inget", "ikke", "intet", "ingenting", "ei", "eivät", "eikä",
    // Polish, Czech, Slovak, Croatian, Serbian, Slovenian, Hungarian
    "nie", "brak", "żaden", "žádný", "není", "nelze", "nebyl", "nebyla", "nebylo", "ne", "nije", "nema", "ni", "nem",
    "nincs",
    // Russian, Ukrainian, Bulgarian, Greek
    "не", "нет", "нельзя", "ничего", "немає", "нема", "няма", "ні", "δεν", "όχι",
    // Turkish, Indonesian, Malay, Vietnamese, Filipino, Swahili
    "değil", "yok", "bulunamadı", "edilemedi", "yapılamadı", "olmadı", "tidak", "bukan", "belum", "không", "chưa",
    "wala", "hakuna",
    // Arabic, Hebrew, Persian, Urdu
    "لا", "لم", "ليس", "ليست", "لن", "لا يوجد", "לא", "אין", "نه", "نیست", "نشد", "نمی-", "نہیں",
    // Hindi, Bengali, Tamil, Telugu
    "नहीं", "नही", "না", "নেই", "নয়", "இல்லை", "లేదు", "కాదు",
    // Thai, Korean, Japanese, Chinese
    "ไม่", "않-", "없-", "못-", "ません", "ない", "なかった", "不", "没", "沒", "無", "无", "未",
];

/// Words of an apology or of a failure: a reply that has one reports no success.
#[rustfmt::skip] // The words of a language are together.
pub(super) const APOLOGIES: &[&str] = &[
    "sorry", "apolog-", "unfortunately", "regret", "oops", "leider", "entschuldig-", "tut mir leid", "fehler-",
    "fehlgeschlagen", "schiefgegangen", "helaas", "excuses", "mislukt-", "fout", "foutmelding", "lo siento", "perdón",
    "perdona", "disculp-", "lamentablemente", "desafortunadamente", "falló", "désolé-", "desole", "pardon",
    "malheureusement", "échoué-", "erreur-", "scusa", "scusi", "mi dispiace", "purtroppo", "errore", "fallito",
    "fallita", "desculp-", "lamento", "infelizmente", "falhou", "erro", "tyvärr", "förlåt", "ursäkta", "misslyckad-",
    "beklager", "dessverre", "undskyld", "desværre", "mislykke-", "anteeksi", "valitettavasti", "pahoittel-",
    "epäonnistui", "virhe", "przepraszam-", "niestety", "błąd", "błęd-", "omlouv-", "bohužel", "bohužiaľ",
    "nepodařil-", "chyba", "sajnos", "sajnál-", "bocsánat", "elnézést", "hiba", "sikertelen", "îmi pare rău", "scuze",
    "din păcate", "eroare", "eșuat", "nažalost", "žao", "greška", "oprosti-", "извин-", "сожален-", "прости-",
    "ошибк-", "не удалось", "вибач-", "на жаль", "помилк-", "съжаля-", "грешка", "συγγνώμη", "λυπάμαι", "δυστυχώς",
    "σφάλμα", "üzgün-", "maalesef", "özür-", "hata", "başarısız", "maaf", "gagal", "sayangnya", "xin lỗi", "rất tiếc",
    "lỗi", "thất bại", "pasensya", "paumanhin", "samahani", "ขออภัย", "ขอโทษ", "เสียใจ", "ล้มเหลว", "عذر-", "آسف",
    "آسفة", "للأسف", "خطأ", "فشل", "סליחה", "מצטער-", "לצערי", "שגיאה", "נכשל-", "متأسف-", "متاسف-", "ببخشید", "خطا",
    "معذرت", "افسوس", "माफ़-", "माफ-", "क्षमा", "खेद", "दुर्भाग्य-", "त्रुटि", "असफल", "विफल", "দুঃখিত", "ত্রুটি",
    "ব্যর্থ", "மன்னிக்க-", "క్షమించ-", "죄송-", "미안-", "아쉽-", "안타깝-", "오류", "실패-", "申し訳", "すみません", "ごめん", "残念", "エラー",
    "失敗", "抱歉", "对不起", "對不起", "遗憾", "遺憾", "错误", "錯誤", "失败",
];

/// First words of a text result that reports a failure.
#[rustfmt::skip] // The words of a language are together.
pub(super) const FAILURES: &[&str] = &[
    "error", "exception", "traceback", "failed", "failure", "invalid", "fehler", "erreur", "errore", "erro", "fout",
    "fel", "feil", "fejl", "virhe", "błąd", "chyba", "hiba", "eroare", "greška", "ошибка", "помилка", "грешка",
    "σφάλμα", "hata", "lỗi", "kesalahan", "ralat", "خطأ", "שגיאה", "خطا", "त्रुटि", "ত্রুটি", "ข้อผิดพลาด", "오류",
    "エラー", "错误", "錯誤",
];

/// Words of a result that says that the call succeeded.
#[rustfmt::skip] // The words of a language are together.
pub(super) const SUCCESSES: &[&str] = &[
    "ok", "okay", "success", "successful", "successfully", "succeeded", "done", "completed", "confirmed", "created",
    "updated", "saved", "sent", "booked", "scheduled", "deleted", "added", "accepted", "erfolg", "erfolgreich",
    "erledigt", "gelukt", "succesvol", "éxito", "exitosamente", "exitosa", "exitoso", "succès", "réussi", "successo",
    "sucesso", "lyckades", "onnistui", "pomyślnie", "úspěšně", "sikeres", "sikeresen", "succes", "uspješno",
    "успешно", "успішно", "επιτυχ-", "başarılı", "başarıyla", "berhasil", "sukses", "thành công", "สำเร็จ", "نجاح",
    "بنجاح", "בהצלחה", "موفق-", "सफल", "सफलतापूर्वक", "সফল-", "성공-", "완료-", "成功", "完了",
];

/// First words of a user's message that reject what was done.
#[rustfmt::skip] // The words of a language are together.
pub(super) const REJECTIONS: &[&str] = &[
    "no", "nope", "nah", "not", "wrong", "incorrect", "actually", "wait", "undo", "try again", "nein", "nee", "ne",
    "quatsch", "falsch", "moment", "stopp", "neen", "non", "não", "nao", "nej", "nei", "ei", "nie", "nem", "nu",
    "нет", "не", "ні", "όχι", "hayır", "tidak", "bukan", "salah", "không", "sai", "hapana", "لا", "לא", "نه", "نہیں",
    "नहीं", "नही", "না", "இல்லை", "కాదు", "ไม่", "아니-", "いや", "いいえ", "違-", "ちが-", "不", "错", "錯",
];

/// Words of a user's message that call what was done wrong, or repeat what was wanted.
#[rustfmt::skip] // The words of a language are together.
pub(super) const CORRECTIONS: &[&str] = &[
    "i meant", "i mean", "that's not", "thats not", "that is not", "that isn't", "that was not", "that wasn't",
    "is wrong", "was wrong", "wrong one", "instead of", "i asked for", "i said", "not what i", "falsch-", "gemeint",
    "meinte", "hab ich gesagt", "habe ich gesagt", "hatte ich gesagt", "gesagt", "stimmt nicht", "verkeerd-",
    "bedoelde", "ik zei", "hab ik gezegd", "heb ik gezegd", "gezegd", "zei ik", "equivocad-", "incorrect-",
    "quise decir", "dije", "me refería", "te pedí", "mauvais-", "voulais dire", "j'ai dit", "j'avais dit", "pas ça",
    "pas ce que", "sbagliat-", "intendevo", "ho detto", "avevo detto", "volevo dire", "errad-", "quis dizer",
    "eu disse", "falei", "pedi", "fel dag", "fel datum", "menade", "jag sa", "forkert", "jeg sagde", "jeg mente",
    "jeg sa", "väärä-", "väärin", "tarkoitin", "sanoin", "błędn-", "chodziło mi", "powiedziałem", "powiedziałam",
    "mówiłem", "mówiłam", "špatn-", "myslel jsem", "řekl jsem", "říkal jsem", "rossz", "mondtam", "gondoltam",
    "greșit-", "am spus", "am zis", "pogrešn-", "rekao sam", "rekla sam", "неправильн-", "неверн-", "не то", "не та",
    "не тот", "я сказал", "я сказала", "я говорил", "я говорила", "имел в виду", "имела в виду", "не той", "я казав",
    "я сказав", "мав на увазі", "грешн-", "λάθος", "εννοούσα", "είπα", "yanlış", "demek istedim", "dedim", "demiştim",
    "maksud saya", "saya bilang", "saya minta", "nhầm", "ý tôi", "tôi nói", "tôi bảo", "ibig kong sabihin",
    "nilisema", "غلط", "خطأ", "قصدت", "أقصد", "قلت", "טעות", "לא נכון", "התכוונתי", "אמרתי", "اشتباه", "منظورم",
    "گفتم", "گلط", "مطلب", "کہا تھا", "गलत", "ग़लत", "मतलब", "कहा था", "बोला था", "कहा", "ভুল", "বলেছি-", "தவறு",
    "తప్పు", "ผิด", "ไม่ใช่", "หมายถึง", "บอกว่า", "틀렸-", "틀린", "잘못-", "말했-", "違う", "違い", "間違", "じゃなく", "ではなく", "言った",
    "言いまし", "不对", "不對", "不是", "错了", "錯了", "我说", "我說", "我要的是", "应该是", "應該是",
];

/// Words that close a conversation politely: a message with one rejects nothing.
#[rustfmt::skip] // The words of a language are together.
pub(super) const CLOSINGS: &[&str] = &[
    "thanks", "thank you", "thx", "cheers", "no problem", "no worries", "no rush", "that's all", "thats all",
    "that is all", "nothing else", "all good", "danke", "dank dir", "das war's", "das wars", "kein problem",
    "bedankt", "dank je", "dat is alles", "gracias", "eso es todo", "merci", "c'est tout", "grazie", "è tutto",
    "obrigad-", "é tudo", "é só isso", "só isso", "tack", "tak", "takk", "kiitos", "kiitti", "dzięk-", "to wszystko",
    "děkuj-", "díky", "ďakuj-", "köszön-", "mulțumesc", "hvala", "спасибо", "это всё", "это все", "дякую",
    "благодар-", "ευχαριστ-", "teşekkür-", "sağ ol", "terima kasih", "makasih", "cảm ơn", "salamat", "asante",
    "ขอบคุณ", "شكر-", "תודה", "ممنون", "مرسی", "شکریہ", "धन्यवाद", "शुक्रिया", "ধন্যবাদ", "நன்றி", "ధన్యవాద-", "감사-",
    "고마-", "ありがと", "以上です", "谢谢", "謝謝", "没有了", "就这样",
];

/// Returns `true` if a text in lower case has one of the words.
pub(super) fn has_one(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| occurs(text, word))
}

/// Returns `true` if a text in lower case begins with one of the words, after signs.
pub(super) fn begins_with_one(text: &str, words: &[&str]) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    words.iter().any(|word| {
        let (stem, is_stem) = parts(word);
        text.strip_prefix(stem).is_some_and(|rest| is_stem || is_end(rest))
    })
}

/// The word without the sign of a stem, and whether it may go on.
fn parts(word: &str) -> (&str, bool) {
    let stem = word.strip_suffix('-');
    let bare = stem.unwrap_or(word);
    (bare, stem.is_some() || bare.chars().next_back().is_some_and(is_unspaced))
}

/// Whether a word occurs in a text: as a whole, as the beginning of a word if it is a stem, anywhere in scripts without spaces.
fn occurs(text: &str, word: &str) -> bool {
    let (bare, may_go_on) = parts(word);
    let is_inside = bare.chars().next().is_some_and(is_unspaced) || bare.starts_with(is_hangul);
    text.match_indices(bare).any(|(at, _)| {
        let starts = is_inside || !text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        starts && (may_go_on || is_end(&text[at + bare.len()..]))
    })
}

/// Whether a word is over where this text begins. Marks of Indic scripts are part of a word.
fn is_end(rest: &str) -> bool {
    !rest.chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '\u{900}'..='\u{dff}'))
}

/// Particles of Korean follow a word without a space.
fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_stems_go_on() {
        assert!(has_one("das ging leider schief", APOLOGIES) && !has_one("leiderschaft", APOLOGIES));
        assert!(has_one("die fehlermeldung", APOLOGIES));
        assert!(has_one("とれませんでした", NEGATIONS) && has_one("찾을 수 없습니다", NEGATIONS));
        assert!(!has_one("notieren und november", NEGATIONS) && !has_one("안녕하세요", NEGATIONS));
        assert!(begins_with_one("  – nein, am 5.", REJECTIONS) && !begins_with_one("neinsager", REJECTIONS));
        assert!(
            begins_with_one("नहीं, मैंने 5 कहा", REJECTIONS) && begins_with_one("不是，我要上海", REJECTIONS)
        );
    }

    #[test]
    fn every_word_is_in_lower_case_and_once_in_its_list() {
        for list in [NEGATIONS, APOLOGIES, FAILURES, SUCCESSES, REJECTIONS, CORRECTIONS, CLOSINGS] {
            for (at, word) in list.iter().enumerate() {
                assert_eq!(word.to_lowercase(), *word);
                assert!(!list[..at].contains(word), "{word}");
            }
        }
    }
}
