package component

import "strings"

// word is one of the components' own words, which they write into a page in
// the page's language.
type word int

const (
	wordNote word = iota
	wordTip
	wordWarning
	wordDanger
	wordError
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
	wordLink
	wordYes
	wordNo
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
	}
	wordsDe = words{
		"Hinweis", "Tipp", "Warnung", "Gefahr", "Fehler", "Info", "Erledigt",
		"Details", "Eigenschaften", "erforderlich", "optional", "veraltet", "Vorgabe", "Beispiel",
		"Anfrage", "Antwort", "Prompt", "In Cursor öffnen", "Neben dem Text", "Link zu diesem Abschnitt", "Ja",
		"Nein",
	}
	wordsFr = words{
		"Remarque", "Conseil", "Avertissement", "Danger", "Erreur", "Info", "Vérifié",
		"Détails", "propriétés", "obligatoire", "facultatif", "obsolète", "par défaut", "exemple",
		"Requête", "Réponse", "Prompt", "Ouvrir dans Cursor", "À côté du texte", "Lien vers cette section", "Oui",
		"Non",
	}
	wordsEs = words{
		"Nota", "Consejo", "Advertencia", "Peligro", "Error", "Información", "Comprobado",
		"Detalles", "propiedades", "obligatorio", "opcional", "obsoleto", "por defecto", "ejemplo",
		"Solicitud", "Respuesta", "Prompt", "Abrir en Cursor", "Junto al texto", "Enlace a esta sección", "Sí",
		"No",
	}
	wordsIt = words{
		"Nota", "Suggerimento", "Avviso", "Pericolo", "Errore", "Info", "Verificato",
		"Dettagli", "proprietà", "obbligatorio", "facoltativo", "deprecato", "predefinito", "esempio",
		"Richiesta", "Risposta", "Prompt", "Apri in Cursor", "Accanto al testo", "Link a questa sezione", "Sì",
		"No",
	}
	wordsPt = words{
		"Nota", "Dica", "Aviso", "Perigo", "Erro", "Informação", "Verificado",
		"Detalhes", "propriedades", "obrigatório", "opcional", "obsoleto", "padrão", "exemplo",
		"Requisição", "Resposta", "Prompt", "Abrir no Cursor", "Ao lado do texto", "Link para esta seção", "Sim",
		"Não",
	}
	wordsRu = words{
		"Примечание", "Совет", "Предупреждение", "Опасно", "Ошибка", "Информация", "Готово",
		"Подробности", "свойства", "обязательно", "необязательно", "устарело", "по умолчанию", "пример",
		"Запрос", "Ответ", "Промпт", "Открыть в Cursor", "Рядом с текстом", "Ссылка на этот раздел", "Да",
		"Нет",
	}
	wordsJa = words{
		"注記", "ヒント", "警告", "危険", "エラー", "情報", "確認済み",
		"詳細", "プロパティ", "必須", "任意", "非推奨", "デフォルト", "例",
		"リクエスト", "レスポンス", "プロンプト", "Cursor で開く", "本文の横", "このセクションへのリンク", "はい",
		"いいえ",
	}
	wordsZh = words{
		"注意", "提示", "警告", "危险", "错误", "信息", "已确认",
		"详情", "属性", "必填", "可选", "已弃用", "默认值", "示例",
		"请求", "响应", "提示词", "在 Cursor 中打开", "正文旁", "本节链接", "是",
		"否",
	}
	wordsKo = words{
		"참고", "팁", "경고", "위험", "오류", "정보", "확인됨",
		"세부 정보", "속성", "필수", "선택", "지원 중단", "기본값", "예시",
		"요청", "응답", "프롬프트", "Cursor에서 열기", "본문 옆", "이 섹션 링크", "예",
		"아니요",
	}
	wordsAr = words{
		"ملاحظة", "نصيحة", "تحذير", "خطر", "خطأ", "معلومة", "تم التحقق",
		"التفاصيل", "الخصائص", "مطلوب", "اختياري", "مهمل", "الافتراضي", "مثال",
		"الطلب", "الاستجابة", "موجه", "فتح في Cursor", "بجانب النص", "رابط إلى هذا القسم", "نعم",
		"لا",
	}
	wordsHe = words{
		"הערה", "טיפ", "אזהרה", "סכנה", "שגיאה", "מידע", "נבדק",
		"פרטים", "מאפיינים", "חובה", "רשות", "לא מומלץ", "ברירת מחדל", "דוגמה",
		"בקשה", "תשובה", "הנחיה", "פתיחה ב-Cursor", "לצד הטקסט", "קישור לחלק זה", "כן",
		"לא",
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

// word returns a word in the page's language.
func (w *Writer) word(k word) string { return wordsFor(w.Lang())[k] }

// word returns a word in the page's language.
func (m *Markdown) word(k word) string { return wordsFor(m.Lang())[k] }
