package theme

import (
	"strconv"
	"strings"
	"time"
)

// words are the theme's own words in one language. They are written into pages
// unescaped where they stand as text: none may hold markup.
type words struct {
	dir                                            string
	skip, menu, close, links, sections, navigation string
	appearance, breadcrumbs, contents, pager       string
	prev, next, banner, socials                    string
	version, language, product, choose             string
	light, dark, system, search                    string
	actions, copyPage, copied, viewPage            string
	copy, edit, issue, allPages                    string
	// pagesOf is a phrase with %s for the name of a section.
	pagesOf string
	// modified is a phrase with %s for the date; months and date make one,
	// date with %d, %m and %y.
	modified, months, date                       string
	notFound, notFoundText, home, moved, movedTo string
	assistant, helpful, yes, no, thanks          string
}

func (w *words) switchName(kind string) string {
	switch kind {
	case "version":
		return w.version
	case "language":
		return w.language
	case "product":
		return w.product
	}
	return w.choose
}

// wordsFor returns the words of the first language that the theme knows;
// regions ("pt-BR") fall back to their language, and all to English.
func wordsFor(langs ...string) *words {
	for _, l := range langs {
		if l == "" {
			continue
		}
		if w := lookupWords(l); w != nil {
			return w
		}
		// A language that we have no words for: English, in its direction.
		if rtl(l) {
			return wordsEnRTL
		}
		return wordsEn
	}
	return wordsEn
}

func lookupWords(lang string) *words {
	base, _, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	switch strings.ToLower(base) {
	case "en":
		return wordsEn
	case "de":
		return wordsDe
	case "fr":
		return wordsFr
	case "es":
		return wordsEs
	case "it":
		return wordsIt
	case "pt":
		return wordsPt
	case "nl":
		return wordsNl
	case "ru":
		return wordsRu
	case "ja", "jp":
		return wordsJa
	case "zh", "cn":
		return wordsZh
	case "ko":
		return wordsKo
	case "ar":
		return wordsAr
	}
	return nil
}

// rtl tells languages whose usual script runs from right to left.
func rtl(lang string) bool {
	base, _, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	switch strings.ToLower(base) {
	case "ar", "he", "iw", "fa", "ur", "ps", "yi", "dv", "sd", "ug", "ckb":
		return true
	}
	return false
}

// day writes the date of t, in UTC.
func (w *words) day(t time.Time) string {
	y, m, d := t.UTC().Date()
	months := strings.Fields(w.months)
	return strings.NewReplacer("%y", strconv.Itoa(y), "%m", months[m-1], "%d", strconv.Itoa(d)).Replace(w.date)
}

var wordsEn = &words{
	dir:  "ltr",
	skip: "Skip to content", menu: "Open navigation", close: "Close", links: "Links", sections: "Sections", navigation: "Navigation",
	appearance: "Appearance", breadcrumbs: "Breadcrumbs", contents: "On this page", pager: "Previous and next page",
	prev: "Previous", next: "Next", banner: "Announcement", socials: "Elsewhere",
	version: "Version", language: "Language", product: "Product", choose: "Choose",
	light: "Light", dark: "Dark", system: "System", search: "Search",
	actions: "More about this page", copyPage: "Copy page", copied: "Copied", viewPage: "View as Markdown",
	copy: "Copy", edit: "Edit this page", issue: "Report an issue", allPages: "All pages",
	pagesOf:  "All pages of %s",
	modified: "Last changed on %s", date: "%d %m %y",
	months:   "January February March April May June July August September October November December",
	notFound: "Page not found", notFoundText: "There is no page at this address. It may have moved, or the link may be wrong.",
	home: "Back to the start", moved: "This page has moved", movedTo: "It is now at",
	assistant: "Ask AI", helpful: "Was this page helpful?", yes: "Yes", no: "No", thanks: "Thank you.",
}

var wordsEnRTL = func() *words { w := *wordsEn; w.dir = "rtl"; return &w }()

var wordsDe = &words{
	dir:  "ltr",
	skip: "Zum Inhalt", menu: "Navigation öffnen", close: "Schließen", links: "Links", sections: "Bereiche", navigation: "Navigation",
	appearance: "Darstellung", breadcrumbs: "Pfad", contents: "Auf dieser Seite", pager: "Vorige und nächste Seite",
	prev: "Zurück", next: "Weiter", banner: "Hinweis", socials: "Anderswo",
	version: "Version", language: "Sprache", product: "Produkt", choose: "Auswahl",
	light: "Hell", dark: "Dunkel", system: "System", search: "Suchen",
	actions: "Mehr zu dieser Seite", copyPage: "Seite kopieren", copied: "Kopiert", viewPage: "Als Markdown ansehen",
	copy: "Kopieren", edit: "Diese Seite bearbeiten", issue: "Problem melden", allPages: "Alle Seiten",
	pagesOf:  "Alle Seiten von %s",
	modified: "Zuletzt geändert am %s", date: "%d. %m %y",
	months:   "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
	notFound: "Seite nicht gefunden", notFoundText: "Unter dieser Adresse gibt es keine Seite. Sie ist vielleicht umgezogen, oder der Link ist falsch.",
	home: "Zur Startseite", moved: "Diese Seite ist umgezogen", movedTo: "Sie steht jetzt unter",
	assistant: "KI fragen", helpful: "War diese Seite hilfreich?", yes: "Ja", no: "Nein", thanks: "Vielen Dank.",
}

var wordsFr = &words{
	dir:  "ltr",
	skip: "Aller au contenu", menu: "Ouvrir la navigation", close: "Fermer", links: "Liens", sections: "Sections", navigation: "Navigation",
	appearance: "Apparence", breadcrumbs: "Fil d’Ariane", contents: "Sur cette page", pager: "Pages précédente et suivante",
	prev: "Précédent", next: "Suivant", banner: "Annonce", socials: "Ailleurs",
	version: "Version", language: "Langue", product: "Produit", choose: "Choisir",
	light: "Clair", dark: "Sombre", system: "Système", search: "Rechercher",
	actions: "Autres actions sur cette page", copyPage: "Copier la page", copied: "Copié", viewPage: "Voir en Markdown",
	copy: "Copier", edit: "Modifier cette page", issue: "Signaler un problème", allPages: "Toutes les pages",
	pagesOf:  "Toutes les pages : %s",
	modified: "Dernière modification le %s", date: "%d %m %y",
	months:   "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	notFound: "Page introuvable", notFoundText: "Il n’y a pas de page à cette adresse. Elle a peut-être été déplacée, ou le lien est erroné.",
	home: "Retour à l’accueil", moved: "Cette page a été déplacée", movedTo: "Elle se trouve maintenant ici :",
	assistant: "Demander à l’IA", helpful: "Cette page vous a-t-elle aidé ?", yes: "Oui", no: "Non", thanks: "Merci.",
}

var wordsEs = &words{
	dir:  "ltr",
	skip: "Ir al contenido", menu: "Abrir la navegación", close: "Cerrar", links: "Enlaces", sections: "Secciones", navigation: "Navegación",
	appearance: "Apariencia", breadcrumbs: "Ruta", contents: "En esta página", pager: "Página anterior y siguiente",
	prev: "Anterior", next: "Siguiente", banner: "Aviso", socials: "En otros sitios",
	version: "Versión", language: "Idioma", product: "Producto", choose: "Elegir",
	light: "Claro", dark: "Oscuro", system: "Sistema", search: "Buscar",
	actions: "Más acciones para esta página", copyPage: "Copiar página", copied: "Copiado", viewPage: "Ver como Markdown",
	copy: "Copiar", edit: "Editar esta página", issue: "Informar de un problema", allPages: "Todas las páginas",
	pagesOf:  "Todas las páginas de %s",
	modified: "Última modificación: %s", date: "%d de %m de %y",
	months:   "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	notFound: "Página no encontrada", notFoundText: "No hay ninguna página en esta dirección. Puede que se haya movido o que el enlace sea incorrecto.",
	home: "Volver al inicio", moved: "Esta página se ha movido", movedTo: "Ahora está en",
	assistant: "Preguntar a la IA", helpful: "¿Te ha sido útil esta página?", yes: "Sí", no: "No", thanks: "Gracias.",
}

var wordsIt = &words{
	dir:  "ltr",
	skip: "Vai al contenuto", menu: "Apri la navigazione", close: "Chiudi", links: "Link", sections: "Sezioni", navigation: "Navigazione",
	appearance: "Aspetto", breadcrumbs: "Percorso", contents: "In questa pagina", pager: "Pagina precedente e successiva",
	prev: "Precedente", next: "Successiva", banner: "Avviso", socials: "Altrove",
	version: "Versione", language: "Lingua", product: "Prodotto", choose: "Scegli",
	light: "Chiaro", dark: "Scuro", system: "Sistema", search: "Cerca",
	actions: "Altre azioni per questa pagina", copyPage: "Copia pagina", copied: "Copiato", viewPage: "Vedi come Markdown",
	copy: "Copia", edit: "Modifica questa pagina", issue: "Segnala un problema", allPages: "Tutte le pagine",
	pagesOf:  "Tutte le pagine di %s",
	modified: "Ultima modifica: %s", date: "%d %m %y",
	months:   "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
	notFound: "Pagina non trovata", notFoundText: "A questo indirizzo non c’è nessuna pagina. Forse è stata spostata o il link è errato.",
	home: "Torna all’inizio", moved: "Questa pagina è stata spostata", movedTo: "Ora si trova qui:",
	assistant: "Chiedi all’IA", helpful: "Questa pagina ti è stata utile?", yes: "Sì", no: "No", thanks: "Grazie.",
}

var wordsPt = &words{
	dir:  "ltr",
	skip: "Ir para o conteúdo", menu: "Abrir a navegação", close: "Fechar", links: "Links", sections: "Seções", navigation: "Navegação",
	appearance: "Aparência", breadcrumbs: "Caminho", contents: "Nesta página", pager: "Página anterior e seguinte",
	prev: "Anterior", next: "Próxima", banner: "Aviso", socials: "Em outros lugares",
	version: "Versão", language: "Idioma", product: "Produto", choose: "Escolher",
	light: "Claro", dark: "Escuro", system: "Sistema", search: "Pesquisar",
	actions: "Mais ações para esta página", copyPage: "Copiar página", copied: "Copiado", viewPage: "Ver como Markdown",
	copy: "Copiar", edit: "Editar esta página", issue: "Relatar um problema", allPages: "Todas as páginas",
	pagesOf:  "Todas as páginas de %s",
	modified: "Última alteração: %s", date: "%d de %m de %y",
	months:   "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
	notFound: "Página não encontrada", notFoundText: "Não há página neste endereço. Ela pode ter sido movida ou o link pode estar errado.",
	home: "Voltar ao início", moved: "Esta página foi movida", movedTo: "Agora ela está em",
	assistant: "Perguntar à IA", helpful: "Esta página foi útil?", yes: "Sim", no: "Não", thanks: "Obrigado.",
}

var wordsNl = &words{
	dir:  "ltr",
	skip: "Naar de inhoud", menu: "Navigatie openen", close: "Sluiten", links: "Links", sections: "Onderdelen", navigation: "Navigatie",
	appearance: "Weergave", breadcrumbs: "Kruimelpad", contents: "Op deze pagina", pager: "Vorige en volgende pagina",
	prev: "Vorige", next: "Volgende", banner: "Mededeling", socials: "Elders",
	version: "Versie", language: "Taal", product: "Product", choose: "Kiezen",
	light: "Licht", dark: "Donker", system: "Systeem", search: "Zoeken",
	actions: "Meer acties voor deze pagina", copyPage: "Pagina kopiëren", copied: "Gekopieerd", viewPage: "Als Markdown bekijken",
	copy: "Kopiëren", edit: "Deze pagina bewerken", issue: "Probleem melden", allPages: "Alle pagina’s",
	pagesOf:  "Alle pagina’s van %s",
	modified: "Laatst gewijzigd op %s", date: "%d %m %y",
	months:   "januari februari maart april mei juni juli augustus september oktober november december",
	notFound: "Pagina niet gevonden", notFoundText: "Op dit adres staat geen pagina. Misschien is ze verplaatst of klopt de link niet.",
	home: "Terug naar het begin", moved: "Deze pagina is verplaatst", movedTo: "Ze staat nu op",
	assistant: "Vraag het AI", helpful: "Was deze pagina nuttig?", yes: "Ja", no: "Nee", thanks: "Bedankt.",
}

var wordsRu = &words{
	dir:  "ltr",
	skip: "К содержанию", menu: "Открыть навигацию", close: "Закрыть", links: "Ссылки", sections: "Разделы", navigation: "Навигация",
	appearance: "Оформление", breadcrumbs: "Путь", contents: "На этой странице", pager: "Предыдущая и следующая страница",
	prev: "Назад", next: "Далее", banner: "Объявление", socials: "В других местах",
	version: "Версия", language: "Язык", product: "Продукт", choose: "Выбор",
	light: "Светлая", dark: "Тёмная", system: "Как в системе", search: "Поиск",
	actions: "Другие действия со страницей", copyPage: "Скопировать страницу", copied: "Скопировано", viewPage: "Открыть как Markdown",
	copy: "Скопировать", edit: "Изменить эту страницу", issue: "Сообщить о проблеме", allPages: "Все страницы",
	pagesOf:  "Все страницы раздела «%s»",
	modified: "Последнее изменение: %s", date: "%d %m %y г.",
	months:   "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
	notFound: "Страница не найдена", notFoundText: "По этому адресу нет страницы. Возможно, она переехала или ссылка неверна.",
	home: "На главную", moved: "Страница переехала", movedTo: "Теперь она здесь:",
	assistant: "Спросить ИИ", helpful: "Эта страница помогла?", yes: "Да", no: "Нет", thanks: "Спасибо.",
}

var wordsJa = &words{
	dir:  "ltr",
	skip: "本文へ移動", menu: "ナビゲーションを開く", close: "閉じる", links: "リンク", sections: "セクション", navigation: "ナビゲーション",
	appearance: "外観", breadcrumbs: "パンくずリスト", contents: "このページの内容", pager: "前後のページ",
	prev: "前へ", next: "次へ", banner: "お知らせ", socials: "関連サイト",
	version: "バージョン", language: "言語", product: "製品", choose: "選択",
	light: "ライト", dark: "ダーク", system: "システム", search: "検索",
	actions: "このページのその他の操作", copyPage: "ページをコピー", copied: "コピーしました", viewPage: "Markdown で表示",
	copy: "コピー", edit: "このページを編集", issue: "問題を報告", allPages: "すべてのページ",
	pagesOf:  "「%s」のすべてのページ",
	modified: "最終更新日: %s", date: "%y年%m月%d日",
	months:   "1 2 3 4 5 6 7 8 9 10 11 12",
	notFound: "ページが見つかりません", notFoundText: "このアドレスにページはありません。移動したか、リンクが間違っている可能性があります。",
	home: "トップへ戻る", moved: "このページは移動しました", movedTo: "移動先:",
	assistant: "AI に質問", helpful: "このページは役に立ちましたか？", yes: "はい", no: "いいえ", thanks: "ありがとうございます。",
}

var wordsZh = &words{
	dir:  "ltr",
	skip: "跳到正文", menu: "打开导航", close: "关闭", links: "链接", sections: "栏目", navigation: "导航",
	appearance: "外观", breadcrumbs: "路径", contents: "本页内容", pager: "上一页和下一页",
	prev: "上一页", next: "下一页", banner: "公告", socials: "其他平台",
	version: "版本", language: "语言", product: "产品", choose: "选择",
	light: "浅色", dark: "深色", system: "跟随系统", search: "搜索",
	actions: "此页面的更多操作", copyPage: "复制页面", copied: "已复制", viewPage: "查看 Markdown",
	copy: "复制", edit: "编辑此页", issue: "报告问题", allPages: "所有页面",
	pagesOf:  "“%s”的所有页面",
	modified: "最后更新于 %s", date: "%y年%m月%d日",
	months:   "1 2 3 4 5 6 7 8 9 10 11 12",
	notFound: "找不到页面", notFoundText: "此地址没有页面。它可能已移动，或者链接有误。",
	home: "返回首页", moved: "此页面已移动", movedTo: "新地址：",
	assistant: "询问 AI", helpful: "此页面对您有帮助吗？", yes: "有", no: "没有", thanks: "谢谢。",
}

var wordsKo = &words{
	dir:  "ltr",
	skip: "본문으로 이동", menu: "탐색 열기", close: "닫기", links: "링크", sections: "섹션", navigation: "탐색",
	appearance: "화면 테마", breadcrumbs: "경로", contents: "이 페이지의 내용", pager: "이전 및 다음 페이지",
	prev: "이전", next: "다음", banner: "공지", socials: "다른 곳",
	version: "버전", language: "언어", product: "제품", choose: "선택",
	light: "밝게", dark: "어둡게", system: "시스템", search: "검색",
	actions: "이 페이지의 추가 작업", copyPage: "페이지 복사", copied: "복사됨", viewPage: "Markdown으로 보기",
	copy: "복사", edit: "이 페이지 편집", issue: "문제 신고", allPages: "모든 페이지",
	pagesOf:  "“%s”의 모든 페이지",
	modified: "마지막 수정: %s", date: "%y년 %m월 %d일",
	months:   "1 2 3 4 5 6 7 8 9 10 11 12",
	notFound: "페이지를 찾을 수 없습니다", notFoundText: "이 주소에는 페이지가 없습니다. 이동했거나 링크가 잘못되었을 수 있습니다.",
	home: "처음으로", moved: "이 페이지는 이동했습니다", movedTo: "새 주소:",
	assistant: "AI에게 묻기", helpful: "이 페이지가 도움이 되었나요?", yes: "예", no: "아니요", thanks: "감사합니다.",
}

var wordsAr = &words{
	dir:  "rtl",
	skip: "انتقل إلى المحتوى", menu: "فتح التنقل", close: "إغلاق", links: "روابط", sections: "الأقسام", navigation: "التنقل",
	appearance: "المظهر", breadcrumbs: "المسار", contents: "في هذه الصفحة", pager: "الصفحة السابقة والتالية",
	prev: "السابق", next: "التالي", banner: "إعلان", socials: "مواقع أخرى",
	version: "الإصدار", language: "اللغة", product: "المنتج", choose: "اختيار",
	light: "فاتح", dark: "داكن", system: "النظام", search: "بحث",
	actions: "إجراءات أخرى لهذه الصفحة", copyPage: "نسخ الصفحة", copied: "تم النسخ", viewPage: "عرض بصيغة Markdown",
	copy: "نسخ", edit: "تعديل هذه الصفحة", issue: "الإبلاغ عن مشكلة", allPages: "كل الصفحات",
	pagesOf:  "كل صفحات %s",
	modified: "آخر تعديل: %s", date: "%d %m %y",
	months:   "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
	notFound: "الصفحة غير موجودة", notFoundText: "لا توجد صفحة في هذا العنوان. ربما نُقلت أو أن الرابط غير صحيح.",
	home: "العودة إلى البداية", moved: "نُقلت هذه الصفحة", movedTo: "عنوانها الآن:",
	assistant: "اسأل الذكاء الاصطناعي", helpful: "هل كانت هذه الصفحة مفيدة؟", yes: "نعم", no: "لا", thanks: "شكرًا لك.",
}
