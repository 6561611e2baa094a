//! Codes of currencies and languages, with the words that people use for them (ISO 4217, ISO 639-1).

/// Currencies by their code: the beginnings of their names, and signs.
#[rustfmt::skip] // The words of a language are together.
const CURRENCIES: &[(&str, &[&str])] = &[
    ("usd", &["dollar", "dólar", "dolar", "долл", "dollaro", "$", "美元", "ドル", "달러", "डॉलर", "دولار", "buck"]),
    ("eur", &["euro", "евро", "€", "欧元", "歐元", "ユーロ", "유로", "यूरो", "يورو"]),
    ("gbp", &["pound", "pfund", "libra", "livre", "sterlin", "фунт", "£", "英镑", "ポンド", "파운드", "पाउंड", "quid"]),
    ("jpy", &["yen", "иен", "日元", "円", "엔", "येन"]),
    ("cny", &["yuan", "renminbi", "rmb", "юан", "人民币", "元", "위안"]),
    ("chf", &["frank", "franc", "franco"]),
    ("inr", &["rupee", "rupi", "рупи", "₹", "रुपय", "रुपए"]),
    ("cad", &["canad", "kanad", "加元"]),
    ("aud", &["austral", "澳元"]),
    ("krw", &["won", "원"]),
    ("brl", &["real", "reais"]),
    ("mxn", &["peso"]),
    ("rub", &["rubl", "рубл"]),
    ("try", &["lira"]),
    ("pln", &["zloty", "złot"]),
    ("sek", &["kron"]),
    ("nok", &["kron"]),
    ("dkk", &["kron"]),
];

/// Languages by their code.
#[rustfmt::skip] // The words of a language are together.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("en", &["english", "englisch", "inglés", "inglês", "anglais", "inglese", "engels", "англ", "英语", "英文", "英語",
        "영어"]),
    ("de", &["german", "deutsch", "alemán", "alemão", "allemand", "tedesco", "duits", "немец", "德语", "ドイツ語", "독일어"]),
    ("fr", &["french", "französisch", "francés", "francês", "français", "francese", "frans", "франц", "法语", "フランス語",
        "프랑스어"]),
    ("es", &["spanish", "spanisch", "español", "espanhol", "espagnol", "spagnolo", "spaans", "испан", "西班牙", "スペイン語",
        "스페인어"]),
    ("it", &["italian", "italienisch", "italiano", "italien", "italiaans", "итальян", "意大利", "イタリア語", "이탈리아어"]),
    ("pt", &["portug", "португал", "葡萄牙"]),
    ("nl", &["dutch", "niederländisch", "holandés", "holandês", "néerlandais", "olandese", "nederlands", "荷兰"]),
    ("ja", &["japan", "giappon", "япон", "日语", "日本語", "일본어"]),
    ("zh", &["chines", "chinois", "chino", "cinese", "китай", "中文", "汉语", "中国語", "중국어"]),
    ("ko", &["korean", "koreanisch", "coreano", "coréen", "корей", "韩语", "韓国語", "한국어"]),
    ("ru", &["russ", "ruso", "русск", "俄语"]),
    ("ar", &["arab", "араб", "阿拉伯", "العربية"]),
    ("hi", &["hindi", "хинди", "印地", "हिंदी", "हिन्दी"]),
    ("tr", &["turk", "türk", "турец", "土耳其"]),
    ("pl", &["polish", "polnisch", "polaco", "polonais", "polacco", "польск", "波兰"]),
    ("sv", &["swed", "schwed", "sueco", "suédois", "svensk", "швед"]),
    ("uk", &["ukrain", "украин", "україн"]),
];

/// Returns `true` if a text in lower case has a word for a code.
pub(super) fn names(code: &str, text: &str) -> bool {
    let of_code = CURRENCIES.iter().chain(LANGUAGES).filter(|(known, _)| *known == code);
    of_code.flat_map(|(_, words)| words.iter()).any(|word| text.contains(word))
}
