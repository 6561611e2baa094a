"""Doc lists and queries in Chinese and Cyrillic that share only their ASCII keys, or a number.

A comparison of only ASCII would treat them as equal. They are different requests, so no two may be merged.
"""

from mistakes.planted import Planted
from sample.domain import call, function, may, need

GROUP = "other-scripts"


def register(purpose, item, count, note):
    """Returns one function with the same keys and other descriptions."""
    return [function("submit_record", purpose, item=need("string", item), count=need("integer", count), note=may("string", note, ""))]


# (docs, query, item, count)
LISTS = (
    (register("登记渔船当天卸下的海产品。", "海产品的名称。", "卸货的箱数。", "检验员的意见。"), "今天卸了12箱鳕鱼，请登记", "鳕鱼", 12),
    (register("向图书馆预约学习座位。", "阅览室所在的楼层。", "需要的座位数目。", "对灯光或插座的要求。"), "在三楼阅览室预约5个座位", "三楼", 5),
    (register("给果园的一个区域安排浇水。", "果树的种类。", "浇水持续的分钟。", "当天的天气情况。"), "给梨树浇水40分钟", "梨树", 40),
    (register("为客人安排机场接送的汽车。", "航班号。", "乘客人数。", "行李的大小。"), "航班CA1837有3位乘客，请派车接机", "CA1837", 3),
    (register("Записывает показания счётчика холодной воды.", "Адрес квартиры.", "Показание в кубометрах.", "Замечания жильца."),
     "Запишите показание 218 кубометров для квартиры на Речной", "на Речной", 218),
    (register("Заказывает дрова для посёлка.", "Порода дерева.", "Число поленниц.", "Куда подвезти."), "Нужно 6 поленниц берёзовых дров", "берёзовых", 6),
    (register("Выдаёт лыжи напрокат на турбазе.", "Модель лыж.", "На сколько часов.", "Рост лыжника."), "Дайте лыжи Сорока на 4 часа", "Сорока", 4),
    (register("Бронирует столик в столовой музея.", "Имя посетителя.", "Сколько будет гостей.", "Пожелания к меню."), "Столик на имя Тарасова, гостей будет 9", "Тарасова", 9),
)

TOWN_SERVICES = [
    function("reserve_hall", "预订文化馆的场地。", hall=need("string", "场地的名称。"), people=need("integer", "参加的人数。")),
    function("order_bread", "向面包房订购面包。", kind=need("string", "面包的种类。"), loaves=need("integer", "面包的数量。")),
    function("hire_bike", "Выдаёт велосипед напрокат.", district=need("string", "Район города."), hours=need("integer", "Число часов.")),
    function("plant_trees", "Сажает деревья во дворе.", street=need("string", "Улица, где двор."), trees=need("integer", "Сколько деревьев.")),
]
# Of each family all queries share one number and no word.
QUERIES = (
    ("Chinese, 15", [("请为舞蹈排练预订15人的小剧场", call("reserve_hall", hall="小剧场", people=15)), ("帮我订购15条全麦面包", call("order_bread", kind="全麦", loaves=15)),
                     ("摄影讲座需要多功能厅，15位听众", call("reserve_hall", hall="多功能厅", people=15))]),
    ("Chinese, 30", [("明早要30条芝麻面包", call("order_bread", kind="芝麻", loaves=30)), ("合唱团共30人，订下音乐厅", call("reserve_hall", hall="音乐厅", people=30))]),
    ("Cyrillic, 7", [("Велосипед в Заречье на 7 часов", call("hire_bike", district="Заречье", hours=7)),
                     ("Посадите 7 лип по Садовой", call("plant_trees", street="Садовой", trees=7))]),
    ("Cyrillic, 24", [("Хочу кататься по Слободке 24 часа", call("hire_bike", district="Слободке", hours=24)),
                      ("Нам нужны саженцы клёна: улица Мира, 24 дерева", call("plant_trees", street="Мира", trees=24))]),
)


def requests():
    for docs, text, item, count in LISTS:
        yield Planted(GROUP, "docs share keys", text, docs, (call("submit_record", item=item, count=count),), family="foreign docs", asks=text)
    for case, asks in QUERIES:
        for text, right in asks:
            yield Planted(GROUP, f"queries share a number: {case}", text, TOWN_SERVICES, (right,), category="multiple",
                          family=f"foreign {case}", asks=text)
