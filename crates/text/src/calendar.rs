//! Words of the calendar in the languages of most logs: months, days of the week, days seen from today.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashSet;

use super::words::is_unspaced;

/// Beginnings of the names of months, in the languages of most logs.
#[rustfmt::skip] // The words of a language are together.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "janv", "янв", "sty", "oca", "يناير", "जनवरी"],
    &["feb", "fév", "fev", "febr", "фев", "lut", "şub", "فبراير", "फरवरी"],
    &["mar", "mär", "maa", "mrt", "мар", "फ़र", "مارس", "मार्च"],
    &["apr", "abr", "avr", "апр", "kwi", "nis", "أبريل", "अप्रैल"],
    &["may", "mai", "mag", "mei", "maj", "май", "мая", "مايو", "मई"],
    &["jun", "juin", "giu", "июн", "cze", "haz", "يونيو", "जून"],
    &["jul", "juil", "lug", "июл", "lip", "tem", "يوليو", "जुलाई"],
    &["aug", "ago", "aoû", "aou", "авг", "sie", "ağu", "أغسطس", "अगस्त"],
    &["sep", "set", "сен", "wrz", "eyl", "سبتمبر", "सितंबर"],
    &["oct", "okt", "ott", "out", "окт", "paź", "eki", "أكتوبر", "अक्टूबर"],
    &["nov", "ноя", "lis", "kas", "نوفمبر", "नवंबर"],
    &["dec", "dez", "déc", "dic", "дек", "gru", "ara", "ديسمبر", "दिसंबर"],
];

/// Words for a day, by its distance from today.
#[rustfmt::skip] // The words of a language are together.
pub const RELATIVE_DAYS: [(i64, &[&str]); 5] = [
    (0, &["today", "tonight", "heute", "hoy", "esta noche", "aujourd'hui", "ce soir", "oggi", "stasera", "hoje",
        "vandaag", "vanavond", "idag", "i dag", "i kväll", "tänään", "dzisiaj", "dziś", "dnes", "сегодня", "сьогодні",
        "bugün", "hari ini", "اليوم", "היום", "आज", "今天", "今日", "今晚", "오늘", "วันนี้", "hôm nay", "σήμερα", "σημερα",
        "astăzi", "днес", "danas", "ngayon"]),
    (1, &["tomorrow", "morgen", "mañana", "demain", "domani", "amanhã", "imorgon", "i morgen", "huomenna", "jutro",
        "zítra", "завтра", "yarın", "besok", "غدا", "غدًا", "מחר", "कल", "明天", "明日", "내일", "พรุ่งนี้", "ngày mai",
        "αύριο", "αυριο", "holnap", "mâine", "zitra", "zajtra", "sutra", "утре", "kesho", "bukas"]),
    (2, &["day after tomorrow", "übermorgen", "pasado mañana", "après-demain", "dopodomani", "depois de amanhã",
        "overmorgen", "послезавтра", "परसों", "后天", "明後日", "모레", "μεθαύριο", "μεθαυριο", "holnapután", "poimâine",
        "pozítří", "pojutrze", "öbür gün", "lusa"]),
    (-1, &["yesterday", "gestern", "ayer", "hier", "ieri", "ontem", "gisteren", "igår", "wczoraj", "вчера", "dün",
        "kemarin", "أمس", "אתמול", "कल", "昨天", "昨日", "어제", "χθες", "χτες", "tegnap", "včera", "вчора", "kahapon"]),
    (7, &["next week", "nächste woche", "in a week", "in einer woche", "la próxima semana", "semaine prochaine",
        "settimana prossima", "下周"]),
];

/// Words for the days of the week, from Monday.
#[rustfmt::skip] // The words of a language are together.
pub const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "montag", "lunes", "lundi", "lunedì", "segunda", "maandag", "måndag", "mandag", "poniedziałek",
        "понедельник", "pazartesi", "senin", "الاثنين", "सोमवार", "周一", "星期一", "月曜", "월요일", "δευτέρα", "pondělí",
        "pondelok", "hétfő", "luni", "thứ hai"],
    &["tuesday", "dienstag", "martes", "mardi", "martedì", "terça", "dinsdag", "tisdag", "tirsdag", "wtorek",
        "вторник", "salı", "selasa", "الثلاثاء", "मंगलवार", "周二", "星期二", "火曜", "화요일", "τρίτη", "úterý", "utorok",
        "kedden", "marți", "thứ ba"],
    &["wednesday", "mittwoch", "miércoles", "mercredi", "mercoledì", "quarta", "woensdag", "onsdag", "środ", "сред",
        "çarşamba", "rabu", "الأربعاء", "बुधवार", "周三", "星期三", "水曜", "수요일", "τετάρτη", "střed", "streda", "szerd",
        "miercuri", "thứ tư"],
    &["thursday", "donnerstag", "jueves", "jeudi", "giovedì", "quinta", "donderdag", "torsdag", "czwartek", "четверг",
        "perşembe", "kamis", "الخميس", "गुरुवार", "周四", "星期四", "木曜", "목요일", "πέμπτη", "čtvrtek", "štvrtok",
        "csütörtök", "thứ năm"],
    &["friday", "freitag", "viernes", "vendredi", "venerdì", "sexta", "vrijdag", "fredag", "piątek", "пятниц", "cuma",
        "jumat", "الجمعة", "शुक्रवार", "周五", "星期五", "金曜", "금요일", "παρασκευή", "pátek", "piatok", "péntek", "vineri",
        "thứ sáu"],
    &["saturday", "samstag", "sonnabend", "sábado", "samedi", "sabato", "zaterdag", "lördag", "lørdag", "sobot",
        "суббот", "cumartesi", "sabtu", "السبت", "शनिवार", "周六", "星期六", "土曜", "토요일", "σάββατο", "szombat", "sâmbăt",
        "thứ bảy"],
    &["sunday", "sonntag", "domingo", "dimanche", "domenica", "zondag", "söndag", "søndag", "niedziel", "воскресень",
        "pazar", "minggu", "الأحد", "रविवार", "周日", "星期日", "星期天", "日曜", "일요일", "κυριακή", "neděl", "nedeľa",
        "vasárnap", "duminic", "chủ nhật"],
];

/// Returns the month that a word in lower case begins to name, from 1.
pub fn month_of(word: &str) -> Option<i8> {
    let is_one = |names: &&[&str]| names.iter().any(|name| word.starts_with(name));
    let at = MONTHS.iter().position(is_one)?;
    i8::try_from(at + 1).ok()
}

/// Returns whether a word in lower case is a day of the week.
pub fn is_weekday(word: &str) -> bool {
    static NAMES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| WEEKDAYS.concat().into_iter().collect());
    NAMES.contains(word)
}

/// Returns whether a text in lower case names a day by its distance from today or by its weekday, so that its meaning
/// depends on when it is said.
pub fn names_a_day(lower: &str) -> bool {
    static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let relative = RELATIVE_DAYS.iter().flat_map(|(_, words)| words.iter());
        AhoCorasick::new(relative.chain(WEEKDAYS.iter().copied().flatten())).expect("a few short words")
    });
    WORDS.find_overlapping_iter(lower).any(|found| stands_alone(lower, found.range()))
}

/// Whether a word of a text is not only a part of another. In scripts without spaces every place counts.
fn stands_alone(text: &str, at: Range<usize>) -> bool {
    let is_spaced = |c: char| c.is_alphabetic() && !is_unspaced(c);
    !text[..at.start].chars().next_back().is_some_and(is_spaced)
        && !text[at.end..].chars().next().is_some_and(is_spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_seen_from_today_is_a_word_of_its_own() {
        for text in ["move it to tomorrow", "moro mañana", "bring es bis montag.", "明天开会", "yarın saat 5"]
        {
            assert!(names_a_day(text), "{text}");
        }
        for text in ["a player of chess", "the sundays brand", "on 2025-03-04", "chiers river", ""] {
            assert!(!names_a_day(text), "{text}");
        }
    }

    #[test]
    fn months_are_read_from_their_beginnings() {
        assert_eq!(month_of("november"), Some(11));
        assert_eq!(month_of("mai"), Some(5));
        assert_eq!(month_of("harbour"), None);
    }
}
