package component

import "strings"

// Word is one of the own words of components and pages, which they write into
// a page in the page's language.
type Word int

const (
	wordNote Word = iota
	wordTip
	wordWarning
	wordDanger
	// WordError labels what went wrong.
	WordError
	wordInfo
	wordCheck
	wordDetails
	wordProperties
	wordRequired
	wordOptional
	wordDeprecated
	wordDefault
	wordExample
	wordRequest
	wordResponse
	wordPrompt
	wordOpen
	wordBeside
	// WordLink names a heading's link to itself.
	WordLink
	wordYes
	wordNo

	// These name boxes that scroll by themselves, for readers who can't see them.
	WordTable
	WordCode
	WordFormula
	WordDiagram
	// WordDiagramText opens what a drawing shows as lists.
	WordDiagramText
	// These name drawings whose author does not.
	WordFlowchart
	WordSequence
	WordState
	WordClass
	WordEntity
	WordPie
	// WordDone and WordOpen name the boxes of a list of tasks.
	WordDone
	WordOpen
	// WordBack names the link from a footnote to its place, WordFootnotes their
	// section.
	WordBack
	WordFootnotes
	// WordUnread says that a part of a page is shown as it was written, and
	// WordLine where.
	WordUnread
	WordLine
	// WordOffline stands before a link to what an offline bundle leaves out.
	WordOffline
	// WordEmbedded names a page in a page that has no title.
	WordEmbedded
	wordCount
)

// words are the words of one language, by word. None holds markup.
type words [wordCount]string

var (
	wordsEn = words{
		"Note", "Tip", "Warning", "Danger", "Error", "Info", "Check",
		"Details", "properties", "required", "optional", "deprecated", "default", "example",
		"Request", "Response", "Prompt", "Open in Cursor", "Beside the text", "Link to this section", "Yes",
		"No",
		"Table", "Code", "Formula", "Diagram", "Diagram as text",
		"Flowchart", "Sequence diagram", "State diagram", "Class diagram", "Entity relationship diagram", "Pie chart",
		"Done", "Open", "Back to the text", "Footnotes",
		"A part of this page could not be read and is shown as it was written", "line",
		"Not part of this offline copy", "Embedded page",
	}
	wordsDe = words{
		"Hinweis", "Tipp", "Warnung", "Gefahr", "Fehler", "Info", "Erledigt",
		"Details", "Eigenschaften", "erforderlich", "optional", "veraltet", "Vorgabe", "Beispiel",
		"Anfrage", "Antwort", "Prompt", "In Cursor öffnen", "Neben dem Text", "Link zu diesem Abschnitt", "Ja",
		"Nein",
		"Tabelle", "Code", "Formel", "Diagramm", "Diagramm als Text",
		"Flussdiagramm", "Sequenzdiagramm", "Zustandsdiagramm", "Klassendiagramm", "Entity-Relationship-Diagramm", "Kreisdiagramm",
		"Erledigt", "Offen", "Zurück zum Text", "Fußnoten",
		"Ein Teil dieser Seite war nicht lesbar und steht hier, wie er geschrieben wurde", "Zeile",
		"Nicht in dieser Offline-Kopie", "Eingebettete Seite",
	}
	wordsFr = words{
		"Remarque", "Conseil", "Avertissement", "Danger", "Erreur", "Info", "Vérifié",
		"Détails", "propriétés", "obligatoire", "facultatif", "obsolète", "par défaut", "exemple",
		"Requête", "Réponse", "Prompt", "Ouvrir dans Cursor", "À côté du texte", "Lien vers cette section", "Oui",
		"Non",
		"Tableau", "Code", "Formule", "Diagramme", "Diagramme en texte",
		"Organigramme", "Diagramme de séquence", "Diagramme d’états", "Diagramme de classes", "Diagramme entité-association", "Diagramme circulaire",
		"Fait", "À faire", "Retour au texte", "Notes",
		"Une partie de cette page n’a pas pu être lue et est affichée telle quelle", "ligne",
		"Absent de cette copie hors ligne", "Page intégrée",
	}
	wordsEs = words{
		"Nota", "Consejo", "Advertencia", "Peligro", "Error", "Información", "Comprobado",
		"Detalles", "propiedades", "obligatorio", "opcional", "obsoleto", "por defecto", "ejemplo",
		"Solicitud", "Respuesta", "Prompt", "Abrir en Cursor", "Junto al texto", "Enlace a esta sección", "Sí",
		"No",
		"Tabla", "Código", "Fórmula", "Diagrama", "Diagrama como texto",
		"Diagrama de flujo", "Diagrama de secuencia", "Diagrama de estados", "Diagrama de clases", "Diagrama entidad-relación", "Gráfico circular",
		"Hecho", "Pendiente", "Volver al texto", "Notas al pie",
		"Una parte de esta página no se pudo leer y se muestra tal como se escribió", "línea",
		"No incluido en esta copia sin conexión", "Página incrustada",
	}
	wordsIt = words{
		"Nota", "Suggerimento", "Avviso", "Pericolo", "Errore", "Info", "Verificato",
		"Dettagli", "proprietà", "obbligatorio", "facoltativo", "deprecato", "predefinito", "esempio",
		"Richiesta", "Risposta", "Prompt", "Apri in Cursor", "Accanto al testo", "Link a questa sezione", "Sì",
		"No",
		"Tabella", "Codice", "Formula", "Diagramma", "Diagramma come testo",
		"Diagramma di flusso", "Diagramma di sequenza", "Diagramma di stato", "Diagramma delle classi", "Diagramma entità-relazione", "Grafico a torta",
		"Fatto", "Da fare", "Torna al testo", "Note",
		"Una parte di questa pagina non è leggibile ed è mostrata così come è stata scritta", "riga",
		"Non incluso in questa copia offline", "Pagina incorporata",
	}
	wordsPt = words{
		"Nota", "Dica", "Aviso", "Perigo", "Erro", "Informação", "Verificado",
		"Detalhes", "propriedades", "obrigatório", "opcional", "obsoleto", "padrão", "exemplo",
		"Requisição", "Resposta", "Prompt", "Abrir no Cursor", "Ao lado do texto", "Link para esta seção", "Sim",
		"Não",
		"Tabela", "Código", "Fórmula", "Diagrama", "Diagrama como texto",
		"Fluxograma", "Diagrama de sequência", "Diagrama de estados", "Diagrama de classes", "Diagrama entidade-relacionamento", "Gráfico de pizza",
		"Concluído", "Pendente", "Voltar ao texto", "Notas de rodapé",
		"Uma parte desta página não pôde ser lida e é mostrada como foi escrita", "linha",
		"Não incluído nesta cópia offline", "Página incorporada",
	}
	wordsRu = words{
		"Примечание", "Совет", "Предупреждение", "Опасно", "Ошибка", "Информация", "Готово",
		"Подробности", "свойства", "обязательно", "необязательно", "устарело", "по умолчанию", "пример",
		"Запрос", "Ответ", "Промпт", "Открыть в Cursor", "Рядом с текстом", "Ссылка на этот раздел", "Да",
		"Нет",
		"Таблица", "Код", "Формула", "Диаграмма", "Диаграмма текстом",
		"Блок-схема", "Диаграмма последовательности", "Диаграмма состояний", "Диаграмма классов", "Диаграмма «сущность — связь»", "Круговая диаграмма",
		"Сделано", "Не сделано", "Назад к тексту", "Сноски",
		"Часть этой страницы не удалось прочитать; она показана так, как написана", "строка",
		"Не входит в эту офлайн-копию", "Встроенная страница",
	}
	wordsJa = words{
		"注記", "ヒント", "警告", "危険", "エラー", "情報", "確認済み",
		"詳細", "プロパティ", "必須", "任意", "非推奨", "デフォルト", "例",
		"リクエスト", "レスポンス", "プロンプト", "Cursor で開く", "本文の横", "このセクションへのリンク", "はい",
		"いいえ",
		"表", "コード", "数式", "図", "図の内容（テキスト）",
		"フローチャート", "シーケンス図", "状態遷移図", "クラス図", "ER 図", "円グラフ",
		"完了", "未完了", "本文に戻る", "脚注",
		"このページの一部を読み取れなかったため、書かれたまま表示しています", "行",
		"このオフライン版には含まれていません", "埋め込みページ",
	}
	wordsZh = words{
		"注意", "提示", "警告", "危险", "错误", "信息", "已确认",
		"详情", "属性", "必填", "可选", "已弃用", "默认值", "示例",
		"请求", "响应", "提示词", "在 Cursor 中打开", "正文旁", "本节链接", "是",
		"否",
		"表格", "代码", "公式", "图表", "图表的文字版",
		"流程图", "时序图", "状态图", "类图", "实体关系图", "饼图",
		"已完成", "未完成", "返回正文", "脚注",
		"本页有一部分无法读取，按原文显示", "行",
		"此离线副本中不包含", "嵌入的页面",
	}
	wordsKo = words{
		"참고", "팁", "경고", "위험", "오류", "정보", "확인됨",
		"세부 정보", "속성", "필수", "선택", "지원 중단", "기본값", "예시",
		"요청", "응답", "프롬프트", "Cursor에서 열기", "본문 옆", "이 섹션 링크", "예",
		"아니요",
		"표", "코드", "수식", "다이어그램", "다이어그램을 텍스트로 보기",
		"순서도", "시퀀스 다이어그램", "상태 다이어그램", "클래스 다이어그램", "ER 다이어그램", "원형 차트",
		"완료", "미완료", "본문으로 돌아가기", "각주",
		"이 페이지의 일부를 읽을 수 없어 작성된 그대로 표시합니다", "줄",
		"이 오프라인 사본에 포함되지 않음", "포함된 페이지",
	}
	wordsAr = words{
		"ملاحظة", "نصيحة", "تحذير", "خطر", "خطأ", "معلومة", "تم التحقق",
		"التفاصيل", "الخصائص", "مطلوب", "اختياري", "مهمل", "الافتراضي", "مثال",
		"الطلب", "الاستجابة", "موجه", "فتح في Cursor", "بجانب النص", "رابط إلى هذا القسم", "نعم",
		"لا",
		"جدول", "شيفرة", "معادلة", "مخطط", "المخطط كنص",
		"مخطط انسيابي", "مخطط تسلسل", "مخطط حالات", "مخطط أصناف", "مخطط كيانات وعلاقات", "مخطط دائري",
		"تم", "لم يتم", "العودة إلى النص", "الحواشي",
		"تعذرت قراءة جزء من هذه الصفحة، وهو معروض كما كُتب", "السطر",
		"غير متاح في هذه النسخة دون اتصال", "صفحة مضمنة",
	}
	wordsHe = words{
		"הערה", "טיפ", "אזהרה", "סכנה", "שגיאה", "מידע", "נבדק",
		"פרטים", "מאפיינים", "חובה", "רשות", "לא מומלץ", "ברירת מחדל", "דוגמה",
		"בקשה", "תשובה", "הנחיה", "פתיחה ב-Cursor", "לצד הטקסט", "קישור לחלק זה", "כן",
		"לא",
		"טבלה", "קוד", "נוסחה", "תרשים", "התרשים כטקסט",
		"תרשים זרימה", "תרשים רצף", "תרשים מצבים", "תרשים מחלקות", "תרשים ישויות וקשרים", "תרשים עוגה",
		"בוצע", "טרם בוצע", "חזרה לטקסט", "הערות שוליים",
		"חלק מדף זה לא ניתן לקריאה ומוצג כפי שנכתב", "שורה",
		"אינו כלול בעותק לא מקוון זה", "דף מוטמע",
	}
)

// wordsFor returns the words of a language (BCP 47, or a label of docs.json);
// English for one that there are no words of.
func wordsFor(lang string) *words {
	base, _, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	switch strings.ToLower(base) {
	case "de":
		return &wordsDe
	case "fr":
		return &wordsFr
	case "es":
		return &wordsEs
	case "it":
		return &wordsIt
	case "pt":
		return &wordsPt
	case "ru":
		return &wordsRu
	case "ja", "jp":
		return &wordsJa
	case "zh", "cn":
		return &wordsZh
	case "ko":
		return &wordsKo
	case "ar":
		return &wordsAr
	case "he":
		return &wordsHe
	}
	return &wordsEn
}

// Say returns a word in a language (BCP 47, or a label of docs.json), English
// where there are no words of it.
func Say(lang string, w Word) string { return wordsFor(lang)[w] }

// word returns a word in the page's language.
func (w *Writer) word(k Word) string { return wordsFor(w.Lang())[k] }

// word returns a word in the page's language.
func (m *Markdown) word(k Word) string { return wordsFor(m.Lang())[k] }
