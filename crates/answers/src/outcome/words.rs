//! Words by which people and models say no, apologise, correct and close, in the languages of most logs.
//!
//! A list never decides that a call worked. A missing word costs a doubt or a correction that other signs may still show; a
//! word too many costs a verified answer. Words of scripts without spaces, and stems that end in `-`, match inside of words.

use std::sync::{LazyLock, PoisonError, RwLock};

use aho_corasick::AhoCorasick;
use callsieve_text::words::is_unspaced;
use rustc_hash::FxHashMap;

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

/// Words for no as the value of a question.
#[rustfmt::skip] // The words of a language are together.
pub(super) const NOES: &[&str] = &[
    "nein", "nee", "nej", "nei", "no", "non", "não", "nao", "ei", "nie", "ne", "nem", "nu", "нет", "не", "ні", "όχι",
    "hayır", "tidak", "không", "hindi", "hapana", "لا", "לא", "نه", "نہیں", "नहीं", "না", "ไม่",
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
    "no", "nope", "nah", "not that", "not this", "not what", "not it", "not right", "not correct", "not quite",
    "wrong", "incorrect", "actually", "wait", "undo", "try again", "nein", "nee",
    "quatsch", "falsch", "moment", "stopp", "neen", "non", "não", "nao", "nej", "nei", "nie", "nem",
    "нет", "не", "ні", "όχι", "οχι", "λάθος", "λαθος", "źle", "zle", "błąd", "špatně", "zle som", "rosszul",
    "tévedés", "gresit",
    "está mal", "mauvais", "faux", "erreur", "sbagliato", "errado", "errada", "tá errado", "está errado", "fout",
    "verkeerd", "fel", "feil", "forkert", "väärin", "неверно", "неправильно", "ошибка", "невірно",
    "грешно", "hayır", "hayir", "yanlış", "yanlis", "tidak", "bukan", "salah", "không", "hapana", "لا", "לא",
    "نه", "نہیں",
    "नहीं", "नही", "না", "இல்லை", "కాదు", "ไม่", "아니-", "いや", "いいえ", "違-", "ちが-", "不", "错", "錯",
    "keliru", "nhầm", "ผิด", "틀렸-", "잘못-", "خطأ", "غلط", "اشتباه", "טעות", "गलत", "ग़लत", "ভুল",
    "nu vreau", "nu asta", "nu aia", "nu acesta", "nu aceasta", "ne to", "ne tohle", "ne ovo", "ne taj", "ne tu",
    "ne mislim", "sai rồi", "아뇨-", "ううん", "เปล่า", "неа", "не-а", "لأ", "nahi",
];

/// First words that reject only with a sign after them; in other languages they mean "what", "now", "leaves" or "egg".
#[rustfmt::skip] // The words of a language are together.
pub(super) const SHORT_REJECTIONS: &[&str] =
    &["ne", "nu", "ei", "sai", "yok", "gak", "nggak", "enggak", "ndak", "mal"];

/// Words of a user's message that call what was done wrong, or repeat what was wanted.
#[rustfmt::skip] // The words of a language are together.
pub(super) const CORRECTIONS: &[&str] = &[
    "i meant", "i mean", "the wrong", "i wrote", "i typed", "i told you", "i clearly", "should have been", "should've been",
    "was supposed", "were supposed", "you mixed up", "you misread", "misread",
    "you got it wrong", "that's not", "thats not", "that is not", "that isn't", "that was not", "that wasn't",
    "is wrong", "was wrong", "vertauscht", "verwechselt", "hatte geschrieben", "habe geschrieben", "hab geschrieben",
    "geschrieben hatte", "geschrieben habe", "schrieb ich", "hätte sein sollen",
    "hätten sein sollen", "sollte es sein", "sollten es sein", "hätten es sein", "ich schrieb", "verwisseld", "schreef",
    "had moeten", "hadden moeten", "moest zijn", "moesten zijn", "escribí", "puse", "debía ser",
    "debían ser", "tenía que ser", "tenían que ser", "debería ser", "deberían ser", "confundiste", "confundió",
    "te confund-",
    "se confund-", "j'ai écrit", "j'avais écrit", "j'ai demandé", "aurait dû", "devait être", "devaient être",
    "confondu",
    "t'es trompé", "vous êtes trompé", "ho scritto", "avevo scritto", "ho chiesto", "doveva essere",
    "dovevano essere", "hai confuso",
    "ha confuso", "hai scambiato", "escrevi", "era para ser", "era pra ser", "eram para ser", "devia ser", "deviam ser",
    "deveria ser", "confundiste-", "enganou-se", "enganaste-te", "se enganou", "trocaste", "trocou", "jag skrev",
    "skulle ha varit", "förväxla-", "jeg skrev", "skulle ha vært", "skulle have været", "skulle vært", "forvekslet",
    "blandet sammen",
    "kirjoitin", "piti olla", "sekoitit", "pisałem", "pisałam", "napisałem", "napisałam", "prosiłem", "prosiłam",
    "miało być", "miał być", "miała być", "miały być", "mialo byc", "powinno być", "pomyliłeś", "pomyliłaś",
    "pomylił pan", "pomyliła pani", "pomyliliście", "pomyliłeś się", "pomyłka", "špatně", "psal jsem", "psala jsem",
    "napsal jsem", "mělo být", "měl být", "měla být",
    "měly být", "spletl jste", "spletl jsi", "spletli jste", "malo byť", "mali byť", "písal som", "írtam", "kértem",
    "kellett volna", "tévedés",
    "összekever-", "am scris", "am cerut", "trebuia să fie", "ai încurcat", "ați încurcat", "greșeală",
    "pisao sam", "trebalo je biti", "wrong one", "instead of", "i asked for", "i said", "not what i", "falsch-",
    "gemeint",
    "meinte", "hab ich gesagt", "habe ich gesagt", "hatte ich gesagt", "gesagt", "stimmt nicht", "verkeerd-",
    "bedoelde", "ik zei", "hab ik gezegd", "heb ik gezegd", "gezegd", "zei ik", "equivocad-", "incorrect-",
    "quise decir", "dije", "me refería", "te pedí", "mauvais-", "voulais dire", "j'ai dit", "j'avais dit", "pas ça",
    "pas ce que", "sbagliat-", "intendevo", "ho detto", "avevo detto", "volevo dire", "errad-", "quis dizer",
    "eu disse", "falei", "pedi", "fel dag", "fel datum", "menade", "jag sa", "forkert", "jeg sagde", "jeg mente",
    "jeg sa", "väärä-", "väärin", "tarkoitin", "sanoin", "błędn-", "chodziło mi", "powiedziałem", "powiedziałam",
    "mówiłem", "mówiłam", "špatn-", "myslel jsem", "řekl jsem", "říkal jsem", "rossz", "mondtam", "gondoltam",
    "greșit-", "am spus", "am zis", "pogrešn-", "rekao sam", "rekla sam", "неправильн-", "неверн-", "не то", "не та",
    "не тот", "я сказал", "я сказала", "я говорил", "я говорила", "имел в виду", "имела в виду", "я писал", "же писал", "же писала", "же просил", "же просила", "же сказал",
    "же сказала", "же говорил", "же говорила",
    "я писала", "я написал", "я написала", "я просил", "я просила",
    "должно было быть", "должен был быть", "должна была быть", "должны были быть", "перепутал-", "ошиблись",
    "я писав", "я просив", "мало бути", "мав бути", "мала бути", "переплутал-", "не той", "я казав",
    "я сказав", "мав на увазі", "грешн-", "писах", "трябваше да", "λάθος", "λαθος", "εννοούσα", "εννοουσα", "είπα",
    "ειπα", "έγραψα", "εγραψα",
    "ζήτησα", "ζητησα", "έπρεπε να", "επρεπε να", "μπέρδεψ-", "μπερδεψ-", "yanlış", "yanlis", "olacaktı", "olmalıydı",
    "yazmıştım", "yazdım", "söylemiştim", "istemiştim", "karıştır-", "demek istedim", "dedim",
    "demiştim",
    "maksud saya", "maksudnya", "maksudku", "seharusnya", "harusnya", "mestinya", "itu salah", "yang salah",
    "salah orang", "salah nomor", "salah hari", "salah tanggal", "salah tulis", "salah pilih", "keliru", "tertukar",
    "saya tulis", "aku tulis", "saya bilang", "saya minta", "nhầm", "tôi viết", "tôi đã viết", "lẽ ra", "đáng lẽ",
    "ý tôi", "tôi nói", "tôi bảo", "ibig kong sabihin",
    "nilisema", "niliandika", "ilipaswa", "mali ang", "dapat ay", "غلط", "خطأ", "قصدت", "أقصد", "قلت", "كتبت", "طلبت",
    "كان يجب", "المفروض", "خلطت", "טעות", "כתבתי", "ביקשתי", "היה צריך", "התבלבלת", "לא נכון", "התכוונתי", "אמרתי",
    "اشتباه", "منظورم",
    "گفتم", "نوشتم", "باید می‌بود", "قاطی کرد-", "گلط", "مطلب", "کہا تھا", "गलत", "ग़लत", "मतलब", "कहा था", "बोला था",
    "कहा", "लिखा था", "होना चाहिए था", "ভুল", "লিখেছি-", "হওয়ার কথা", "বলেছি-", "தவறு",
    "తప్పు", "ผิด", "ไม่ใช่", "หมายถึง", "บอกว่า", "เขียนว่า", "ต้องเป็น", "สลับกัน", "틀렸-", "틀린", "잘못-", "말했-",
    "썼는데", "적었-", "이었어야", "였어야", "헷갈-", "違う", "違い", "間違", "じゃなく", "ではなく", "言った",
    "言いまし", "書いた", "書きまし", "頼んだ", "不对", "不對", "不是", "错了", "錯了", "我说", "我說", "我要的是", "应该是", "應該是", "我写的", "我寫的", "弄错",
    "弄錯", "搞错", "搞錯", "搞混",
];

/// Words for what was wanted: a correction if the message repeats the request, else it may be a next wish.
#[rustfmt::skip] // The words of a language are together.
pub(super) const WANTED: &[&str] = &[
    "i wanted", "i want", "i need", "i asked", "should be", "mixed up", "wollte", "wollten", "ich will", "wilde",
    "ik wil", "quería", "queria",
    "quiero", "quero", "je voulais", "je veux", "volevo", "voglio", "jag ville", "jag vill", "jeg ville", "jeg vil",
    "halusin", "chciałem", "chciałam", "chcę", "chtěl jsem", "chtěla jsem", "chci", "akartam", "szerettem volna",
    "voiam", "vreau", "htio sam", "htjela sam", "хотел", "хотела", "хочу", "хотів", "исках", "ήθελα", "ηθελα", "θέλω",
    "θελω", "istemiştim", "istiyordum", "olması gerek-", "istiyorum", "saya mau", "aku mau", "maunya", "tôi muốn", "phải là", "gusto ko",
    "nilitaka", "أريد", "أردت", "רציתי", "אני רוצה", "می‌خواستم", "چاہتا تھا", "चाहिए था", "चाहता था",
    "चाहती थी", "চেয়েছিলাম", "ต้องการ", "อยากได้", "원했-", "원한", "欲しかった", "ほしかった", "のはず", "我想要", "我要",
];

/// Words that deny the word before them.
#[rustfmt::skip] // The words of a language are together.
pub(super) const NOT_AFTER: &[&str] = &[
    "değil", "degil", "नहीं", "नही", "না", "নয়", "இல்லை", "కాదు", "아니라", "아니고", "아니에요", "아닙니다", "말고", "نہیں",
];

/// Beginnings of a message with a no that rejects nothing: praise, courtesy and surprise.
#[rustfmt::skip] // The words of a language are together.
pub(super) const IDIOMS: &[&str] = &[
    "no way", "no more", "no further", "no other questions", "no questions", "no tengo más", "no más preguntas", "no necesito",
    "non ho altre", "non serve", "não tenho mais", "não preciso", "nie trzeba", "nie potrzeb-", "nie mam więcej", "не надо",
    "не нужно", "не треба", "nem kell", "není potřeba", "no joke", "no kidding", "no doubt", "no problem", "no worries", "no rush", "no hurry", "no wonder",
    "not bad", "actually, thanks", "kein problem", "no está mal", "no hay problema", "no pasa nada", "no te preocupes",
    "no se preocupe", "no importa", "no me digas", "non c'è problema", "non c'è di che", "non male", "não faz mal",
    "não tem problema", "não há problema", "não tem de quê", "nie ma sprawy", "nie ma problemu", "nie ma za co",
    "nie szkodzi", "nie najgorzej", "není problém", "není zač", "nevadí", "nem baj", "nem rossz", "nem probléma",
    "nu-i problemă", "nu e problemă", "nu contează", "nema problema", "nema veze", "не проблема", "не страшно",
    "не за что", "нет проблем", "не плохо", "не переживай-", "не беда", "нема проблем", "ei hätää", "ei haittaa",
    "ei se mitään", "salah satu", "bukan main", "bukan kepalang", "bukan apa-apa", "tidak apa-apa", "tidak masalah",
    "tidak mengapa", "không sao", "không có gì", "không vấn đề", "لا بأس", "لا مشكلة", "لا عليك", "לא נורא",
    "לא רע", "न चिंता", "不错", "不錯", "不客气", "不客氣", "不用", "不要紧", "不急", "不好意思", "いやあ", "いやー", "ไม่เป็นไร",
    "ไม่มีปัญหา",
];

/// Words for "it is fine" and "nothing more": after a no and a sign, they close.
#[rustfmt::skip] // The words of a language are together.
pub(super) const FINE: &[&str] = &[
    "fine", "good", "great", "ok", "okay", "all right", "alright", "perfect", "enough", "nothing", "alles gut",
    "passt", "schon gut", "ist gut", "in ordnung", "prima", "nichts mehr", "nichts weiter", "reicht", "is goed",
    "genoeg", "niets meer", "está bien", "nada más", "así está bien", "vale", "suficiente", "c'est bon", "ça va",
    "ça ira", "rien d'autre", "parfait", "va bene", "nient'altro", "basta", "a posto", "perfetto", "está bem", "tá bom",
    "tudo bem", "nada mais", "mais nada", "chega", "perfeito", "det är bra", "det räcker", "inget mer", "det er fint",
    "det er bra", "ikke mere", "ikke mer", "se riittää", "kaikki hyvin", "jest ok", "w porządku", "nic więcej",
    "wystarczy", "dobrze", "je to v pořádku", "to stačí", "nic dalšího", "dobrý", "rendben", "jó így", "ennyi",
    "semmi más", "e bine", "e în regulă", "nimic altceva", "ajunge", "u redu", "to je sve", "всё хорошо",
    "все хорошо", "все в порядке", "всё в порядке", "больше ничего", "ничего больше", "хватит", "достаточно",
    "нормально", "все добре", "більше нічого", "всичко е наред", "εντάξει", "ενταξει", "καλά", "τίποτα άλλο",
    "τιποτα αλλο", "αρκεί", "tamam", "yeter", "gerek yok", "başka bir şey yok", "sorun değil", "cukup", "itu saja",
    "sudah", "nggak usah", "tidak usah", "được rồi", "thế thôi", "vậy thôi", "đủ rồi", "ayos", "okey", "tama na",
    "inatosha", "تمام", "يكفي", "هذا كل شيء", "לא צריך", "בסדר", "זה הכל", "کافی", "همین", "خوبه",
    "ٹھیک ہے", "ठीक है", "बस", "ঠিক আছে", "แค่นี้", "เท่านี้", "ดีแล้ว", "พอแล้ว", "괜찮-", "됐어-", "충분-", "大丈夫", "結構",
    "それだけ", "可以了", "挺好", "够了", "没事",
];

/// Words that close a conversation politely: a message with one rejects nothing.
#[rustfmt::skip] // The words of a language are together.
pub(super) const CLOSINGS: &[&str] = &[
    "thanks", "thank you", "thx", "cheers", "no problem", "no worries", "no rush", "that's all", "thats all",
    "that is all", "nothing else", "nothing more", "all good", "that's fine", "thats fine", "that is fine", "that's ok",
    "that's okay", "thats ok", "thats okay", "that's it", "thats it", "that's perfect", "thats perfect", "that's great", "thats great", "that's good",
    "thats good", "that works", "looks good", "never mind", "nevermind", "no need", "danke",
    "dank dir", "das war's", "das wars", "kein problem",
    "sonst nichts", "das ist alles", "bedankt", "dank je", "dat is alles", "verder niets", "gracias", "nada más",
    "eso es todo", "merci", "c'est tout", "rien d'autre", "grazie", "nient'altro", "è tutto",
    "obrigad-", "é tudo", "é só isso", "só isso", "nada mais", "tack", "det var allt", "inget annat", "tak", "takk",
    "kiitos", "kiitti", "dzięk-", "to wszystko", "nic więcej",
    "děkuj-", "díky", "ďakuj-", "köszön-", "mulțumesc", "hvala", "спасибо", "это всё", "это все", "больше ничего",
    "ничего больше", "дякую",
    "благодар-", "ευχαριστ-", "τίποτα άλλο", "τιποτα αλλο", "teşekkür-", "sağ ol", "bu kadar", "bu yeter",
    "gerek yok", "terima kasih",
    "itu saja", "itu aja", "makasih", "cảm ơn", "salamat", "asante",
    "ขอบคุณ", "شكر-", "תודה", "ممنون", "مرسی", "شکریہ", "धन्यवाद", "शुक्रिया", "ধন্যবাদ", "நன்றி", "ధన్యవాద-", "감사-",
    "고마-", "ありがと", "以上です", "谢谢", "謝謝", "没有了", "就这样",
    "不用了", "ไม่เป็นไร", "แค่นี้", "괜찮아요", "괜찮습니다", "大丈夫です", "結構です", "không cần", "thế thôi",
];

/// Returns `true` if a text in lower case has one of the words.
pub(super) fn has_one(text: &str, words: Words) -> bool {
    let found = automaton(words).find_overlapping_iter(text);
    found.into_iter().any(|found| stands_alone(text, found.start(), words[found.pattern()]))
}

/// Returns `true` if a text in lower case contains one of the words, whatever stands around it.
pub(crate) fn contains_one(text: &str, words: Words) -> bool {
    automaton(words).find_overlapping_iter(text).next().is_some()
}

/// A list of words that the program has.
type Words = &'static [&'static str];

/// The automaton of each list, by the place of the list: a text is read once, however long the list is.
static AUTOMATA: LazyLock<RwLock<FxHashMap<(usize, usize), &'static AhoCorasick>>> =
    LazyLock::new(RwLock::default);

/// Returns the automaton of a list, of its words without the signs of stems.
fn automaton(words: Words) -> &'static AhoCorasick {
    let place = (words.as_ptr().addr(), words.len());
    let known = AUTOMATA.read().unwrap_or_else(PoisonError::into_inner).get(&place).copied();
    known.unwrap_or_else(|| {
        let bare = words.iter().map(|word| parts(word).0);
        let automaton = AhoCorasick::new(bare).expect("the lists are short, as the tests show");
        let mut automata = AUTOMATA.write().unwrap_or_else(PoisonError::into_inner);
        // There are as many as lists.
        automata.entry(place).or_insert_with(|| Box::leak(Box::new(automaton)))
    })
}

/// Returns `true` if a text in lower case denies something: by a word, or by a contraction such as "haven't".
pub(super) fn has_negation(text: &str) -> bool {
    let is_contracted = |word: &str| word.ends_with("n't") || word.ends_with("n\u{2019}t");
    has_one(text, NEGATIONS)
        || text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}'))).any(is_contracted)
}

/// Returns `true` if a text in lower case begins with one of the words, after signs.
pub(super) fn begins_with_one(text: &str, words: &[&str]) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    words.iter().any(|word| {
        let (stem, is_stem) = parts(word);
        text.strip_prefix(stem).is_some_and(|rest| is_stem || is_end(rest))
    })
}

/// Returns `true` if a text in lower case begins with one of the words, and a sign or nothing follows.
pub(super) fn begins_with_one_and_sign(text: &str, words: &[&str]) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    words.iter().any(|word| {
        let rest = text.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', '.', '!', ';', ':', '-', '–', '—']))
    })
}

/// Returns `true` if a text in lower case has one of the words right after a sign: "no, that's fine".
pub(super) fn has_one_after_sign(text: &str, words: &[&str]) -> bool {
    let is_sign = |c: char| matches!(c, ',' | '.' | ';' | '!' | '–' | '—' | '،' | '、' | '，' | '。');
    let mut parts = text.split(is_sign).skip(1).map(str::trim_start);
    parts.any(|part| begins_with_one(part, words))
}

/// The word without the sign of a stem, and whether it may go on.
fn parts(word: &str) -> (&str, bool) {
    let stem = word.strip_suffix('-');
    let bare = stem.unwrap_or(word);
    (bare, stem.is_some() || bare.chars().next_back().is_some_and(is_unspaced))
}

/// Whether a word at a place of a text stands there: as a whole, as the beginning of a word if it is a stem, anywhere in scripts
/// without spaces.
fn stands_alone(text: &str, at: usize, word: &str) -> bool {
    let (bare, may_go_on) = parts(word);
    let is_inside = bare.chars().next().is_some_and(is_unspaced) || bare.starts_with(is_hangul);
    let starts = is_inside || !text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    starts && (may_go_on || is_end(&text[at + bare.len()..]))
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
        let lists = [
            NEGATIONS,
            APOLOGIES,
            FAILURES,
            SUCCESSES,
            REJECTIONS,
            SHORT_REJECTIONS,
            CORRECTIONS,
            WANTED,
            NOT_AFTER,
            IDIOMS,
            FINE,
            CLOSINGS,
        ];
        for list in lists {
            for (at, word) in list.iter().enumerate() {
                assert_eq!(word.to_lowercase(), *word);
                assert!(!list[..at].contains(word), "{word}");
            }
        }
    }
}
