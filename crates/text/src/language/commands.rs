//! Words of short commands: verbs of requests, courtesy, and the plainest nouns of what people ask for.
//!
//! A word that only one language of a script has tells that language alone (see `signs`), so each word is listed for
//! all languages that have it. Words that most languages have borrowed from English are in [`LOANWORDS`]. Deliberately
//! absent: names, and words that are names.

use whatlang::Lang;

/// A language, and its words of commands.
pub(super) struct Commands(pub(super) Lang, pub(super) &'static str);

/// English words that other languages use too. They count for English only beside another English word.
pub(super) const LOANWORDS: &str = "booking check chat download email file flight hotel login mail meeting online open \
     order orders pizza play reset service start status stop table team test ticket tickets update upload visa";

/// Words of Malay that Indonesian does not have. Malay is not named, as no detector knows it.
pub(super) const MALAY: &str = "awak bilik boleh cakap esok hantar invois kereta mahu mesyuarat nak padam sila tempah \
     tempahan telefon tetapkan batal semak resit bil pejabat bila";

/// Words of Croatian, Bosnian and Serbian in Latin letters, which cannot be told from one another.
pub(super) const CROATIAN: &str = "i u na je su se da ne za od do s sa kao što kako gdje gde kada tko ko koliko moj \
     moja moje danas sutra sada sad molim hvala otkaži otkazi prikaži prikazi pokaži pošalji posalji pronađi nađi otvori zatvori dodaj \
     obriši izbriši podsjeti podseti rezerviraj rezerviši promijeni promeni uključi isključi nazovi pozovi račun račune \
     vrijeme vreme narudžbu naruči kupi plati koji koja ili nije sam bi";

#[rustfmt::skip] // The words of a language are together.
pub(super) const LATIN: &[Commands] = &[
    Commands(Lang::Eng, "add book bookings buy calculate call cancel change close convert create delete email find \
        flights give hello help hey invoice invoices list lock message morning need next order orders password pay \
        please price receipt refund remind remove rename resend return schedule search send set show switch table \
        tell thanks today tomorrow tonight track translate turn unlock unsubscribe weather write yesterday \
        subscription account appointment shipping delivery late half past o'clock at some these those whats im ive dont cant lets tomorow bill bills reschedule result results latest before after then than something anything someone everything only also very more many each every into they them \
        their our we he she his her its if but were been being had may might must let make use movie plan trip move connect fetch provide \
        run say what's here monday tuesday wednesday thursday friday saturday sunday week month year one two three four five seven eight nine ten where's who owes split home work house road increase decrease raise lower louder again card balance package parcel milk bread car kitchen"),
    Commands(Lang::Spa, "abre abrir actualiza agrega agregar ahora añade añadir anula apaga apagar avísame ayer \
        ayuda ayúdame baja borra borrar busca buscar búscame buenas buenos calcula cambia cambiar cancela cancelar cancele \
        cierra cita clima compra comprar comprueba convierte correo crea crear cuenta dame días dime dos elimina eliminar \
        enciende encender encuentra enséñame envía envíame enviar escribe factura facturas gracias guarda hazme \
        habitación hola hora llama llamar llámame luz manda mándame mensaje mesa mostrar muestra muéstrame muestrame \
        necesito noche pagar pedido pedidos pide pídeme podrías pon ponme precio prende puedes puerta quiero quisiera \
        recibo recuérdame recuerdame recuerda reenvía reserva reservar resérvame reservas reservación reunión revisa sube tengo tiempo tráeme \
        traduce verifica vuelo vuelos favor ya luces coche dirección entradas tarde fecha lunes martes miércoles jueves viernes sábado domingo semana mes año tres cuatro cinco seis siete ocho nueve diez una alarma anota arranca aumenta casa calle cocina cuál detén divide leche lista luego mueve pan paquete próximo próxima quita recarga saldo silencia tarjeta todas todos trabajo también abajo arriba volumen"),
    Commands(Lang::Por, "abra abre abrir acenda acende acrescente adicione adiciona agora ajuda ajude altere apaga \
        apague atualize bom boa busca buscar busque calcule calcula cancela cancelar cancele carro chame coloque compra comprar \
        compre confira conta converta criar crie cria depois desligue desliga dia diga encomenda encontre envia \
        envie enviar escreva exclua fatura faturas favor fecha fechar feche gostaria hora ligar ligue lembrar lembre lembrete \
        luz luzes manda mande mensagem mesa mostrar mostra mostre mudar mude noite obrigada obrigado oi olá ontem \
        pagar pague peça pede pedido pedidos poderia porta preciso preço procura procure quarto quero recibo reenvie remova \
        renomeie reserva reservar reservas reunião tempo toque traduza verificar verifique voo voos desligar tocar você lista segunda terça quarta quinta sexta feira sábado domingo semana mês ano dois duas três quatro cinco seis sete oito nove dez alarme anote anota adie aumente aumenta baixe baixa cartão casa cozinha divida inicie leite pão pacote próximo próxima qual recarregue saldo tire todas todos trabalho também rua meu minha pare"),
    Commands(Lang::Fra, "abonnement achète acheter affiche affichez aide aidez ajoute ajouter ajoutez allume \
        allumer annule annuler annulez appelle appeler appelez après arrête bonjour besoin calcule calculez chambre cherche chercher \
        cherchez commande commander commandes compte convertis crée créer créez désabonne donne donnez dossier écris écrire \
        effacer efface envoie envoyer envoyez éteindre éteins éteignez facture factures ferme fermer fermez hier \
        joue lumière lumières merci météo mets mettez mettre modifie modifier montre montrez montrer nuit ouvre \
        ouvrir ouvrez paie payer peux plaît plait porte pourriez pouvez prix rappelle rappeler rappelez reçu renomme \
        renvoie renvoyer rendez réservation réserve réserver réservez réunion salut soir supprime supprimer supprimez svp \
        télécharge traduire traduis trouve trouver trouvez vérifie vérifier vérifiez veux voiture vols voudrais faut lundi mardi mercredi jeudi vendredi samedi dimanche semaine mois année deux trois quatre cinq sept huit neuf dix addition alarme arrêtez augmente baisse carte colis coupe cuisine décale démarre divise lait liste maison monte note pain partage prochain prochaine recharge rendez-vous solde toutes tous travail aussi quelle rue lancer lancez"),
    Commands(Lang::Deu, "abbestellen abend abmelden aktualisiere ändere ändern anrufen anzeigen ausschalten beleg benenne berechne \
        bestell bestelle bestellen bestellung bestellungen bezahle bezahlen brauche buche buchen buch buchung danke \
        einschalten erinner erinnere erinnerung erstelle erstellen finde finden flug flüge füge gestern gib guten hallo \
        hilf hilfe hinzu kannst kaufe kaufen konto könntest kündige kündigen licht lösche löschen mach mache \
        melde mittags möchte morgens nachricht nacht nenne öffne öffnen preis prüfe prüfen quittung rechne rechnung \
        rechnungen reserviere reservieren ruf rufe sag schalt schalte schick schicke schicken schließ schließe \
        schließen schliesse schreib schreibe sende senden später spiel spiele starte stell stelle storniere \
        stornieren storno such suche suchen termin termine tisch tür übersetze überprüfe uhr verschiebe wetter wiederhole zahle \
        zeig zeige zeigen zimmer habe hab gern wieviel trage lass mal montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag woche monat jahr zwei drei vier fünf sechs sieben acht neun zehn arbeit auto brot erhöhe guthaben hause karte küche lade lauter leiser liste milch nächste nächsten nächster notier notiere paket senke stopp straße teil teile verschieb wieder wiederhol alle leise an dreh"),
    Commands(Lang::Ita, "accendi accendere aggiorna aggiungi aggiungere aiutami aiuto annulla annullare appuntamento \
        apri aprire buongiorno buonasera calcola camera cambia cambiare cancella cancellare carica cerca cercami cercare chiama \
        chiamami chiudere chiudi ciao compra comprare controlla conto converti crea creare dammi dimmi disdici domani dopo elimina \
        fammi fattura fatture favore grazie ieri imposta invia inviami inviare leggi luce luci macchina manda mandami \
        messaggio meteo metti modifica mostra mostrami mostrare ordina ordinare ordine ordini paga pagare piacere porta \
        potresti prenota prenotare prenotazione prezzo puoi ricevuta ricorda ricordami rimanda rinomina riunione \
        scarica scrivi sera spedisci spegni spegnere sposta stasera stanotte svegliami tavolo tempo togli traduci trova \
        trovami vendi verifica voglio voli volo vorrei bisogno due lunedì martedì mercoledì giovedì venerdì sabato domenica settimana mese anno tre quattro cinque sei sette otto nove dieci abbassa alza annota avvia casa carta cucina dividi ferma latte lista mio pacco pane prossimo prossima ricarica saldo segna tutte tutti lavoro anche strada fra qualche lavatrice"),
    Commands(Lang::Cat, "afegeix amb ara avui demà els esborra és gràcies meu meus meva meves plau què són tanca truca vull"),
    Commands(Lang::Nld, "aanzetten afspraak afspraken afzeggen alsjeblieft alstublieft annuleer annuleren avond bedankt bellen bereken \
        bericht bestel bestellen bestelling bestellingen betaal betalen boek boeken boeking bonnetje bonnen controleer dank deur \
        facturen factuur geef gisteren goedemorgen graag hallo help hernoem herinner herinnering kamer kijk koop kopen \
        kunt laat later licht maak maken nacht nodig open opnieuw opzeggen prijs rekening reserveer reserveren schrijf sluit \
        sluiten speel stuur sturen toe toon tonen uitzetten vertaal verander verplaats verstuur verwijder verwijderen \
        vind vinden vlucht vluchten voeg weer wijzig wijzigen wil wilt zeg zet zoek zoeken zien twee drie tafel maandag dinsdag woensdag donderdag vrijdag zaterdag zondag week maand jaar vier vijf zes zeven acht negen tien brood deel geluid harder zachter huis kaart keuken lijst melk noteer pakje pakket saldo splits straat verhoog verlaag verzet volgende werk alles start wasmachine"),
    Commands(Lang::Afr, "asseblief bespreek dankie ek hoe jou jy kanselleer môre nie soek stuur vandag verwyder vir waar wanneer wys"),
    Commands(Lang::Swe, "avbeställ avboka avsluta beställ beställa beställning beställningar betala boka bokning bokningar bord \
        byt dörren fakturor faktura flyg flytta hämta hej hitta hjälp hjälpa igår ikväll imorgon klockan kolla konto \
        kontrollera köp köpa kvällen kvitto kvittot lampan lägg lås läs meddelande möte namn öppna översätt pris påminn \
        påminnelse räkna radera ring sänd sätt säg senare sida skapa skicka skriv snälla släck sök spela stäng stänga \
        tack tänd två tre uppdatera väder vädret vänligen vill visa behöver ändra borde hyra måndag tisdag onsdag torsdag fredag lördag söndag vecka månad år fyra fem sex sju åtta nio tio anteckna bröd dela hem höj kort kök ladda lista mjölk mitt nästa notan notera paket sänk starta volymen gata alla arbetet"),
    Commands(Lang::Dan, "afbestil aflys annuller aften åbn åbne beregn besked bestil bestille bestilling \
        bestillinger betal betale bord brug døren faktura fakturaer find flyt giv hej hjælp hjælpe hent køb købe konto kvittering \
        læs luk lys mind møde opret opdater oversæt pris påmind ring sæt senere send skift skriv slå slet sluk søg \
        spil start tak tænd tilføj tjek to tre vejr vejret venligst vil vis værelse ændr ændre leje mandag tirsdag onsdag torsdag fredag lørdag søndag uge måned år fire fem seks syv otte ni ti brød del hjem kort køkken liste lyden mælk næste noter pakke skru sænk gade alle arbejde op ned"),
    Commands(Lang::Nob, "avbestill beregn bestill bestille bestilling bestillinger betal betale bord bruk døren døra \
        endre faktura fakturaer finn flytt fortell hei hent hjelp hjelpe kanseller kjøp kjøpe konto kveld kvittering les lukk \
        lys leie legg melding møte minn opprett oppdater oversett påminn pris ring rom sett sjekk send senere skru skriv slå slett søk \
        spill start takk to tre trenger vær været vennligst vil vis åpne åpen mandag tirsdag onsdag torsdag fredag lørdag søndag uke måned år fire fem seks sju åtte ni ti brød del hjem kort kjøkken liste lyden melk neste noter pakke senk gate alle arbeid opp ned kjøkkenet stua"),
    Commands(Lang::Fin, "ja tai on ei en mikä mitä missä mihin mistä milloin miten kuinka paljonko kuka minun \
        minulle minua sinun se tämä nyt tänään huomenna kanssa myös vielä mutta että jos voiko voitko onko haluan \
        aseta auta avaa eilen etsi hae haluaisin hei hinta huone illalla kaksi kello kerro kiitos kirjoita kokous käynnistä \
        käännä kuitti lasku laskun laskuni laskut laske lento lisää lopeta luo lukitse lue lähetä maksa moi muistuta \
        muuta myöhemmin nimeä näytä osta ovi peru peruuta pöytä poista päivitä sammuta soita sulje sää tarkista tarvitsen \
        tilaa tilaukset tilaukseni tilaus tilauksen tili uudelleen vaihda valot varaa viesti varaus voisitko maanantai maanantaina maanantaille tiistai tiistaina keskiviikko keskiviikkona torstai torstaina perjantai perjantaina lauantai lauantaina sunnuntai sunnuntaina viikko viikolla kuukausi vuosi yksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen jaa kirjaa koti lataa leipä lista maito paketti pakettini seuraava siirrä nosta kaikki keittiö auto katu työ"),
    Commands(Lang::Pol, "anuluj bilet bilety cena cześć dodaj dziękuję dzięki drzwi faktura faktury faktur hotelu \
        kup konto lot chce chcę chciałbym chciałabym możesz muszę napisz nazwę odwołaj oblicz otwórz otworz paragon płacę pogoda podaj \
        pokaż pokaz pokój pomoc pomóż potrzebuję powiedz proszę prosze przeczytaj przenieś przesuń przetłumacz przypomnij \
        rezerwacja rezerwację rezerwuj sprawdź sprawdz spotkanie światło stolik stwórz szukaj szukam ustaw usuń usun \
        utwórz wczoraj wiadomość wieczorem wieczór włącz wyłącz wypisz wyślij wyslij wyszukaj zadzwoń zagraj zaktualizuj \
        zamknij zamów zamow zamówienia zamówienie zapłać zarezerwuj zmień zmien znajdź znajdz później ponownie dwie dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć rano poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę tydzień miesiąc jeden chleb doładuj dom gdzie kartę kuchnia lista listy mleko moja następny paczka podziel praca przełóż rachunek saldo uruchom ulica zapisz zatrzymaj wszystkie głośniej ciszej dodać"),
    Commands(Lang::Ces, "ahoj aktualizuj cena chci chtěl dej děkuji díky dobrý den dveře faktura faktury hledej hledám \
        konto kup můžeš můžete najdi napiš nastav název objednávka objednávky objednávku objednej odešli odhlaste \
        odstraň otevři pokoj počasí pomoc pošli potřebuji potřebuju prosím přečti přejmenuj přehraj překlad přelož přidej \
        připomeň přesuň řekni rezervace rezervaci rezervuj schůzka schůzku smaž spočítej světlo účtenka účtenku ukaž včera večer \
        vyhledej vypni vytvoř zaplať zapni zavolej zavři změň zkontroluj znovu zobraz zpráva zprávu zruš stůl jízdenku dvě tři čtyři pět šest sedm osm devět deset ráno pondělí úterý středa středu čtvrtek pátek sobota sobotu neděle neděli týden měsíc jeden dva balík chléb dobij dům kartu kuchyně mléko můj příští rozděl seznam spusť stav ulice účet zapiš zastav zesil zeslab hlasitost práce"),
    Commands(Lang::Slk, "a v vo s so z zo na do od pre po o u k za pri cez je sú ako aký aká aké čo kto kde kedy \
        koľko ktorý ktorá prečo sa si mi ma môj moja moje nie to ten tá tento dnes zajtra teraz bude alebo či všetky \
        ahoj aktualizuj cena chcem daj ďakujem dobrý dvere faktúra faktúry faktúru hľadaj izba kup môžeš \
        nájdi napíš nastav objednaj objednávka objednávky objednávku odstráň otvor počasie pomoc pošli potrebujem \
        povedz prečítaj prehraj prelož presuň pridaj pripomeň premenuj prosím rezervácia rezerváciu rezervuj rezervácie skontroluj správa stretnutie \
        svetlo ukáž včera večer vyhľadaj vypni vypočítaj vytvor zaplať zapni zatvor zavolaj zmaž zmeň znova zobraz zruš dve tri štyri päť šesť sedem osem deväť desať ráno pondelok utorok streda stredu štvrtok piatok sobota sobotu nedeľa nedeľu týždeň mesiac jeden dva balík chlieb dom kartu kuchyňa mlieko rozdeľ zoznam spusť ulica účet zapíš zastav hlasitosť práca budúci"),
    Commands(Lang::Tur, "aç açar adını akşam al ara ayarla ayırt bilet bul çal çalıştır çevir değiştir dün durumu ekle et fatura \
        faturalar faturalarımı faturayı fiyat fiyatı göster goster gönder gonder güncelle hatırlat hava hesap hesapla \
        iptal ışığı ışıkları istiyorum kapat kapıyı kapı kilitle kontrol listele lütfen lutfen makbuzu masa merhaba mesaj oda öde oku \
        oluştur oynat öner randevu rezervasyon rezervasyonu rezervasyonumu satın sil sipariş siparişi siparişim siparişlerimi \
        söyle teşekkürler tekrar toplantı toplantıyı uçuş ver yaz yardım yap yapar misin mısın iki üç müsün pazartesi salı çarşamba perşembe cuma cumartesi pazar hafta ay yıl dört beş altı yedi sekiz dokuz on başlat böl durdur ekmek ertele ev hesabı kargom kartımı liste nerede süt sesi yükle randevuyu sonraki sokak bütün mutfak bakiye bakiyem tüm şarkı"),
    Commands(Lang::Ind, "akun atur baca bantu batalkan bayar beli beri berikan berhenti besok bisa bisakah buat \
        buatkan buka butuh cari carikan cek cuaca faktur ganti halo hapus harga hitung hubungi ingatkan ingin \
        kamar katakan kasih kemarin kirim kirimkan kunci lampu langganan malam matikan mau nanti nyalakan pagi penerbangan \
        perbarui periksa pesan pesanan pesankan pintu putar putarkan rapat selamat setel siang struk tagihan tambah tambahkan \
        tampilkan telepon terima terjemahkan tiket tolong tulis tunjukkan tutup ubah ulang dua dong jadwalkan lagi senin selasa rabu kamis jumat sabtu minggu bulan tahun satu tiga empat lima enam tujuh delapan sembilan sepuluh bagi besarkan catat daftar dapur isi janji jalan kartu kecilkan kerja mulai paket pindahkan roti rumah saldo susu volume berikutnya hentikan lagu"),
    Commands(Lang::Vie, "bật tắt đặt hủy huỷ gửi tìm mở đóng tạo xóa xoá thêm nhắc gọi kiểm tra dịch tính nói cần muốn \
        giúp cảm ơn xin chào hóa đơn đơn hàng chuyến bay phòng tối thời tiết giá hôm qua mua trả viết đọc thứ tuần tháng năm hai ba bốn sáu bảy tám chín mười"),
    Commands(Lang::Ron, "actualizează adaugă adauga afișează afiseaza ajută ajută-mă amintește aminteste anulează \
        anuleaza arată arata aș bună buna calculează cameră caută cauta chitanța chitanță citește comandă comanda comenzi \
        comenzile creează cumpără deschide dezabonează diseară două doua găsește gaseste factura facturi facturile facturile \
        ieri închide inchide întâlnire lumina mă mele mersi mesaj modifică mulțumesc multumesc mută oprește opreste plătește \
        pornește porneste poți prânz preț putea redă redenumește retrimite rezervă rezerva rezervare rezervarea rog salut \
        schimbă schimba seara scrie setează spune șterge sterge sună suna tradu traduce trimite trimiteți ușa verifică vreau \
        vremea zbor zboruri luni marți miercuri joi vineri sâmbătă duminică săptămână săptămâna lună an trei patru cinci șase șapte opt nouă zece alarma casă coletul împarte lapte listă mărește următorul pâine notează strada sold bucătărie toate"),
    Commands(Lang::Hun, "ajtót adj állítsd asztalt be bolt ellenőrizd emlékeztess este fel fizesd foglalás foglalj \
        foglald foglalást fordítsd frissítsd helló hívd hívj hozz időjárás idő írd írj jegyet játssz kapcsold kell kérek kérem kérlek \
        keresd keress ki készíts két később köszi köszönöm küldd küldj le lámpát létre meg módosítsd mondd mutasd \
        mutass nevezd nyisd nyugta nyugtát olvasd rendelés rendelések rendelésem rendelj számla számláim számláimat számlák számlát \
        számold segíts segítség szeretnék szia szoba szobát tegnap töröld törölje töröl tudnál újra üzenet üzenetet változtasd vegyél vedd zárd hétfő hétfőn kedd kedden szerda szerdán csütörtök csütörtökön péntek pénteken szombat szombaton vasárnap hét hónap év egy három négy öt hat nyolc kilenc tíz csomag csomagom indítsd kártyát kenyér konyha lista tej következő utca halkítsd hangosítsd oszd összes ház munka"),
];

#[rustfmt::skip] // The words of a language are together.
pub(super) const CYRILLIC: &[Commands] = &[
    Commands(Lang::Rus, "вечером включи вчера выключи вышли дай дверь добавь добавьте забронируй забронируйте закажи \
        заказ заказа заказов заказы закрой закройте здравствуйте измени комната купи можешь можете найди найдите напиши \
        напомни напомните нужен нужна нужно обнови оплати открой отмени отмените отпишите отправь отправьте \
        переведи переименуй погода погоду пожалуйста позвони позвоните покажи покажите поменяй помоги поставь поищи посчитай \
        привет пришли проверь проверьте прочитай рейс свет скажи создай сообщение спасибо счёт счет счета удали \
        удалите установи хочу цена чек билет билеты встреча встречу позже следующий есть понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье неделя неделю месяц год два две три четыре пять шесть семь восемь девять десять баланс громче дом запиши запусти карту кухня молоко останови перенеси подели пополни посылка раздели сделай список тише улица хлеб все машина работа"),
    Commands(Lang::Ukr, "вимкни видали вчора відкрий ввечері двері дай дай додай допоможи дякую забронюй закрий замов замовлення \
        зателефонуй знайди знайдіть зміни зустріч квиток квитки кімната купи ласка можеш нагадай надішли напиши \
        онови оплати переклади перевір пізніше повідомлення погода погоду покажи покажіть порахуй потрібен \
        потрібно привіт прочитай рахунок рахунки рейс світло скажи скасуй скасуйте створи увімкни хочу ціна встанови понеділок вівторок середа середу четвер пʼятниця п'ятниця субота суботу неділя неділю тиждень місяць рік два дві три чотири шість сім вісім девять десять баланс гучніше запиши запусти зроби картку кухня молоко перенеси поповни посилка розділи список тихіше хліб вулиця зупини"),
    Commands(Lang::Bul, "благодаря вечер включи врата време вчера дай добави здравей изключи измени изпрати изтрий искам кажи \
        купи моля можеш намери напиши напомни обади обнови отвори отмени плати поръчай поръчка поръчки покажи покажете полет помогни после \
        преведи пресметни провери промени прочети пусни резервирай светлина среща стая създай съобщение трябва фактура фактури \
        цена затвори билет билети ми понеделник вторник сряда четвъртък петък събота неделя седмица месец година два две три четири пет шест седем осем девет десет баланс кухня мляко списък улица хляб раздели запиши спри всички карта картата запази"),
];

#[rustfmt::skip] // The words of a language are together.
pub(super) const ARABIC: &[Commands] = &[
    Commands(Lang::Ara, "ألغ إلغاء الغي اعرض أظهر احجز أرسل ارسل ابحث افتح أغلق اغلق احذف أضف اضف ذكرني اتصل ترجم احسب أريد اريد \
        فضلك شكرا مرحبا فاتورة فواتيري طلب طلبي موعد رحلة غرفة الطقس سعر أمس ساعدني غير شغل أطفئ الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد ارفع اخفض أجل أوقف الصوت قائمة رصيدي بطاقتي طردي"),
    Commands(Lang::Pes, "لغو کن کنید نشان بده بدهید رزرو بفرست پیدا باز ببند حذف اضافه یادآوری زنگ بزن ترجمه حساب میخواهم می‌خواهم \
        لطفا لطفاً ممنون سلام فاکتور سفارش پرواز اتاق هوا قیمت دیروز کمک روشن خاموش"),
    Commands(Lang::Urd, "منسوخ کریں کرو دکھائیں دکھاؤ بھیجیں بھیجو تلاش کھولیں بند حذف شامل یاد دلائیں براہ کرم شکریہ سلام چاہیے بتائیں \
        بتاؤ رسید موسم قیمت مدد"),
];

#[rustfmt::skip] // The words of a language are together.
pub(super) const DEVANAGARI: &[Commands] = &[
    Commands(Lang::Hin, "रद्द कर करो करें करना दिखाओ दिखाएं दिखाएँ दिखाइए बुक भेजो भेजें भेज खोजो खोजें खोलो खोलें बंद बनाओ बनाएं हटाओ हटाएं जोड़ो \
        जोड़ें याद दिलाओ दिलाना कॉल अनुवाद बताओ बताएं बताइए चाहिए कृपया धन्यवाद नमस्ते मौसम दो दें सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार बढ़ाओ घटाओ लगाओ लिखो चलाओ रोको आवाज़ दूध सूची मेरा"),
    Commands(Lang::Mar, "रद्द कर करा दाखव दाखवा बुक पाठव पाठवा शोध शोधा उघड उघडा बंद तयार हटवा जोडा आठवण सांग सांगा हवे हवी हवा कृपया \
        धन्यवाद नमस्कार हवामान द्या सोमवार मंगळवार बुधवार गुरुवार शुक्रवार शनिवार रविवार"),
    Commands(Lang::Nep, "रद्द गर गर्नुहोस् गर्नुस् देखाउनुहोस् देखाऊ पठाउनुहोस् पठाऊ खोज्नुहोस् खोल्नुहोस् बन्द बनाउनुहोस् हटाउनुहोस् सम्झाउनुहोस् चाहिन्छ \
        कृपया धन्यवाद नमस्ते मौसम"),
];
