//! Codes of currencies, languages and countries, with the words that people use for them (ISO 4217, ISO 639-1, ISO 3166-1).

use callsieve_text::words::is_unspaced;

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

/// Countries by their codes of two and of three letters: the beginnings of their names; before a blank, the whole name.
#[rustfmt::skip] // The words of a country are together.
const COUNTRIES: &[(&str, &str, &[&str])] = &[
    ("ad", "and", &["andorra"]),
    ("ae", "are", &["united arab emirates", "emirates", "uae ", "emirate", "émirats", "emiratos",
        "vereinigte arabische", "阿联酋", "الإمارات"]),
    ("ar", "arg", &["argentin", "阿根廷"]),
    ("at", "aut", &["austria", "österreich", "autriche", "oostenrijk", "austrii", "奥地利", "オーストリア", "오스트리아"]),
    ("au", "aus", &["australi", "澳大利亚", "オーストラリア", "호주"]),
    ("be", "bel", &["belgi", "bélgica", "比利时", "ベルギー"]),
    ("bg", "bgr", &["bulgari", "保加利亚"]),
    ("br", "bra", &["brazil", "brasil", "brésil", "巴西", "ブラジル", "브라질"]),
    ("ca", "can", &["canad", "kanada", "加拿大", "カナダ", "캐나다"]),
    ("ch", "che", &["switzerland", "swiss", "schweiz", "suisse", "suiza", "svizzera", "suíça", "zwitserland",
        "瑞士", "スイス", "스위스"]),
    ("cl", "chl", &["chile", "智利"]),
    ("cn", "chn", &["china", "chine", "cina", "kina", "chiny", "китай", "中国", "중국"]),
    ("co", "col", &["colombia", "colombie", "kolumbien", "哥伦比亚"]),
    ("cy", "cyp", &["cyprus", "zypern", "chypre", "chipre"]),
    ("cz", "cze", &["czech", "tschech", "tchéqu", "chequia", "checa", "česk", "捷克"]),
    ("de", "deu", &["german", "deutschland", "allemagne", "alemania", "alemanha", "germania", "duitsland",
        "tyskland", "niemcy", "германия", "德国", "ドイツ", "독일"]),
    ("dk", "dnk", &["denmark", "dänemark", "danemark", "dinamarca", "danimarca", "danmark", "denemarken", "丹麦",
        "デンマーク"]),
    ("ee", "est", &["estonia", "estland", "estonie"]),
    ("eg", "egy", &["egypt", "ägypten", "égypte", "egipto", "egitto", "埃及", "مصر"]),
    ("es", "esp", &["spain", "spanien", "espagne", "españa", "espanha", "spagna", "spanje", "hiszpania",
        "испания", "西班牙", "スペイン", "스페인"]),
    ("fi", "fin", &["finland", "finnland", "finlande", "finlandia", "suomi", "芬兰", "フィンランド"]),
    ("fr", "fra", &["france", "frankreich", "francia", "frança", "frankrijk", "frankrike", "francja", "франция",
        "法国", "フランス", "프랑스"]),
    ("gb", "gbr", &["united kingdom", "great britain", "britain", "england", "scotland", "wales", "uk ",
        "vereinigtes königreich", "großbritannien", "royaume-uni", "reino unido", "regno unito", "英国", "イギリス",
        "영국"]),
    ("ge", "geo", &["georgia"]),
    ("gr", "grc", &["greece", "griechenland", "grèce", "grecia", "ελλάδα", "希腊"]),
    ("hk", "hkg", &["hong kong", "香港", "홍콩"]),
    ("hr", "hrv", &["croatia", "kroatien", "croatie", "croacia", "hrvatska"]),
    ("hu", "hun", &["hungary", "ungarn", "hongrie", "hungría", "magyarország"]),
    ("id", "idn", &["indonesi", "印度尼西亚"]),
    ("ie", "irl", &["ireland", "irland", "irlande", "irlanda", "爱尔兰"]),
    ("il", "isr", &["israel", "以色列", "ישראל"]),
    ("in", "ind", &["india", "indien", "inde ", "bharat", "印度", "インド", "인도", "भारत"]),
    ("is", "isl", &["iceland", "islande", "islandia", "冰岛"]),
    ("it", "ita", &["italy", "italien", "italie", "italia", "itália", "włochy", "италия", "意大利", "イタリア", "이탈리아"]),
    ("jp", "jpn", &["japan", "japon", "giappone", "japón", "日本", "일본"]),
    ("ke", "ken", &["kenya", "kenia"]),
    ("kr", "kor", &["korea", "corea", "corée", "coreia", "韩国", "韓国", "한국"]),
    ("lt", "ltu", &["lithuania", "litauen", "lituanie", "lietuva"]),
    ("lu", "lux", &["luxemb"]),
    ("lv", "lva", &["latvia", "lettland", "lettonie", "latvija"]),
    ("ma", "mar", &["morocco", "marokko", "maroc", "marruecos", "المغرب"]),
    ("mt", "mlt", &["malta"]),
    ("mx", "mex", &["mexico", "mexiko", "mexique", "méxico", "messico", "墨西哥", "メキシコ"]),
    ("my", "mys", &["malaysia", "马来西亚"]),
    ("ng", "nga", &["nigeria"]),
    ("nl", "nld", &["netherlands", "holland", "niederlande", "pays-bas", "países bajos", "paesi bassi",
        "nederland", "荷兰", "オランダ", "네덜란드"]),
    ("no", "nor", &["norway", "norwegen", "norvège", "noruega", "norvegia", "norge", "noorwegen", "挪威", "ノルウェー"]),
    ("nz", "nzl", &["new zealand", "neuseeland", "nouvelle-zélande", "nueva zelanda", "新西兰"]),
    ("pe", "per", &["peru", "perú", "pérou"]),
    ("ph", "phl", &["philippin", "filipin", "菲律宾"]),
    ("pk", "pak", &["pakistan"]),
    ("pl", "pol", &["poland", "polen", "pologne", "polonia", "polska", "польша", "波兰", "ポーランド"]),
    ("pt", "prt", &["portugal", "portogallo", "葡萄牙", "ポルトガル"]),
    ("ro", "rou", &["romania", "rumänien", "roumanie", "rumania", "românia"]),
    ("rs", "srb", &["serbia", "serbien", "serbie", "srbija"]),
    ("ru", "rus", &["russia", "russland", "russie", "rusia", "россия", "俄罗斯", "ロシア", "러시아"]),
    ("sa", "sau", &["saudi", "السعودية"]),
    ("se", "swe", &["sweden", "schweden", "suède", "suecia", "svezia", "sverige", "zweden", "瑞典", "スウェーデン"]),
    ("sg", "sgp", &["singap", "新加坡", "シンガポール", "싱가포르"]),
    ("si", "svn", &["slovenia", "slowenien", "slovénie", "eslovenia", "slovenija"]),
    ("sk", "svk", &["slovakia", "slowakei", "slovaquie", "eslovaquia", "slovensko"]),
    ("th", "tha", &["thailand", "thaïlande", "tailandia", "泰国", "태국", "ไทย"]),
    ("tr", "tur", &["turkey", "türkei", "turquie", "turquía", "türkiye", "土耳其"]),
    ("tw", "twn", &["taiwan", "台湾", "臺灣", "대만"]),
    ("ua", "ukr", &["ukrain", "україна", "украина", "乌克兰"]),
    ("us", "usa", &["united states", "america", "usa ", "u.s.", "vereinigte staaten", "états-unis",
        "estados unidos", "stati uniti", "сша", "美国", "アメリカ", "미국"]),
    ("vn", "vnm", &["vietnam", "việt nam", "越南", "ベトナム", "베트남"]),
    ("za", "zaf", &["south africa", "südafrika", "afrique du sud", "sudáfrica", "南非"]),
];

/// Returns `true` if a text in lower case has a word for a code.
pub(super) fn names(code: &str, text: &str) -> bool {
    if COUNTRIES.iter().any(|(two, three, names)| [*two, *three].contains(&code) && begins_word(text, names))
    {
        return true;
    }
    let of_code = CURRENCIES.iter().chain(LANGUAGES).filter(|(known, _)| *known == code);
    of_code.flat_map(|(_, words)| words.iter()).any(|word| text.contains(word))
}

/// Whether a word of a text begins with one of these; in scripts without spaces a text that has one is enough.
pub(super) fn begins_word(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let (name, is_whole) = name.strip_suffix(' ').map_or((*name, false), |name| (name, true));
        let is_spaced = name.starts_with(|c: char| c.is_alphabetic() && !is_unspaced(c));
        text.match_indices(name).any(|(at, _)| {
            let begins = !is_spaced || !text[..at].ends_with(char::is_alphanumeric);
            begins && !(is_whole && text[at + name.len()..].starts_with(char::is_alphanumeric))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_country_gives_its_codes() {
        for (code, text) in [
            ("at", "a quote for 12 kg from germany to austria"),
            ("deu", "from germany to austria"),
            ("ch", "12 kg de la suisse"),
            ("jp", "日本への荷物"),
            ("us", "ship it to the united states"),
        ] {
            assert!(names(code, text), "{code}: {text}");
        }
        for (code, text) in [
            ("in", "the rind of a cheese"),
            ("pe", "the superuser"),
            ("at", "to the coast"),
            ("gb", "to ukraine"),
            ("us", "the usage"),
        ] {
            assert!(!names(code, text), "{code}: {text}");
        }
    }
}
