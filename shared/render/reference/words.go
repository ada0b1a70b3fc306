package reference

import "strings"

// wordList are the room's own words in one language. None holds markup.
type wordList struct {
	servers, authorization, or, noAuthorization, scopes string
	path, query, headers, cookies, body                 string
	responses, callbacks, options, option               string
	oneOf, anyOf, recursive                             string
	send, receive, messages, reply, payload             string
	deprecated                                          string

	// The playground's.
	try, sendRequest, request, response, status, time string
	failed, refused, secretsNote, required            string
	// contentType is what is sent, answerType what is asked for.
	contentType, answerType string
	// links are calls that follow on an answer.
	links string
	// and stands between what is needed together.
	and string
}

var (
	wordsEn = wordList{
		"Servers", "Authorization", "or", "No authorization is needed.", "Scopes",
		"Path parameters", "Query parameters", "Headers", "Cookies", "Body",
		"Responses", "Callbacks", "Available options", "Option", "One of these:", "Any of these:", "As above:",
		"Send", "Receive", "Messages", "Reply", "Payload", "deprecated",
		"Try it", "Send", "Request", "Response", "Status", "Time",
		"The request failed.",
		"The browser gave no answer to this page. The server may be out of reach, or its CORS policy does not allow calls from this page; the command above works in a terminal.",
		"Secrets stay in this page's memory until it is closed.", "required",
		"Content type", "Response type",
		"Links", "and",
	}
	wordsDe = wordList{
		"Server", "Autorisierung", "oder", "Es ist keine Autorisierung nötig.", "Berechtigungen",
		"Pfadparameter", "Query-Parameter", "Header", "Cookies", "Body",
		"Antworten", "Callbacks", "Mögliche Werte", "Option", "Eines davon:", "Beliebige davon:", "Wie oben:",
		"Senden", "Empfangen", "Nachrichten", "Antwort", "Payload", "veraltet",
		"Ausprobieren", "Senden", "Anfrage", "Antwort", "Status", "Dauer",
		"Die Anfrage ist fehlgeschlagen.",
		"Der Browser hat dieser Seite keine Antwort gegeben. Der Server ist nicht erreichbar, oder seine CORS-Regeln erlauben keine Aufrufe von dieser Seite; der Befehl oben funktioniert im Terminal.",
		"Geheimnisse bleiben im Speicher dieser Seite, bis sie geschlossen wird.", "erforderlich",
		"Inhaltstyp", "Typ der Antwort",
		"Links", "und",
	}
	wordsFr = wordList{
		"Serveurs", "Autorisation", "ou", "Aucune autorisation n'est requise.", "Portées",
		"Paramètres de chemin", "Paramètres de requête", "En-têtes", "Cookies", "Corps",
		"Réponses", "Rappels", "Valeurs possibles", "Option", "L'un de ceux-ci :", "N'importe lesquels de ceux-ci :", "Comme ci-dessus :",
		"Envoi", "Réception", "Messages", "Réponse", "Contenu", "obsolète",
		"Essayer", "Envoyer", "Requête", "Réponse", "Statut", "Durée",
		"La requête a échoué.",
		"Le navigateur n'a pas transmis de réponse à cette page. Le serveur est injoignable, ou sa politique CORS n'autorise pas les appels depuis cette page ; la commande ci-dessus fonctionne dans un terminal.",
		"Les secrets restent en mémoire jusqu'à la fermeture de cette page.", "obligatoire",
		"Type de contenu", "Type de la réponse",
		"Liens", "et",
	}
	wordsEs = wordList{
		"Servidores", "Autorización", "o", "No se necesita autorización.", "Ámbitos",
		"Parámetros de ruta", "Parámetros de consulta", "Encabezados", "Cookies", "Cuerpo",
		"Respuestas", "Callbacks", "Valores posibles", "Opción", "Uno de estos:", "Cualquiera de estos:", "Como arriba:",
		"Enviar", "Recibir", "Mensajes", "Respuesta", "Contenido", "obsoleto",
		"Probar", "Enviar", "Solicitud", "Respuesta", "Estado", "Tiempo",
		"La solicitud falló.",
		"El navegador no dio respuesta a esta página. El servidor no está disponible, o su política CORS no permite llamadas desde esta página; el comando de arriba funciona en una terminal.",
		"Los secretos quedan en la memoria de esta página hasta que se cierre.", "obligatorio",
		"Tipo de contenido", "Tipo de la respuesta",
		"Enlaces", "y",
	}
	wordsIt = wordList{
		"Server", "Autorizzazione", "oppure", "Non serve alcuna autorizzazione.", "Ambiti",
		"Parametri di percorso", "Parametri di query", "Intestazioni", "Cookie", "Corpo",
		"Risposte", "Callback", "Valori possibili", "Opzione", "Uno di questi:", "Uno o più di questi:", "Come sopra:",
		"Invio", "Ricezione", "Messaggi", "Risposta", "Contenuto", "deprecato",
		"Prova", "Invia", "Richiesta", "Risposta", "Stato", "Tempo",
		"La richiesta non è riuscita.",
		"Il browser non ha dato risposta a questa pagina. Il server non è raggiungibile, o la sua politica CORS non ammette chiamate da questa pagina; il comando sopra funziona in un terminale.",
		"I segreti restano nella memoria di questa pagina finché non viene chiusa.", "obbligatorio",
		"Tipo di contenuto", "Tipo della risposta",
		"Collegamenti", "e",
	}
	wordsPt = wordList{
		"Servidores", "Autorização", "ou", "Nenhuma autorização é necessária.", "Escopos",
		"Parâmetros de caminho", "Parâmetros de consulta", "Cabeçalhos", "Cookies", "Corpo",
		"Respostas", "Callbacks", "Valores possíveis", "Opção", "Um destes:", "Quaisquer destes:", "Como acima:",
		"Enviar", "Receber", "Mensagens", "Resposta", "Conteúdo", "obsoleto",
		"Experimentar", "Enviar", "Requisição", "Resposta", "Status", "Tempo",
		"A requisição falhou.",
		"O navegador não deu resposta a esta página. O servidor está inacessível, ou sua política CORS não permite chamadas desta página; o comando acima funciona em um terminal.",
		"Os segredos ficam na memória desta página até que ela seja fechada.", "obrigatório",
		"Tipo de conteúdo", "Tipo da resposta",
		"Links", "e",
	}
	wordsRu = wordList{
		"Серверы", "Авторизация", "или", "Авторизация не нужна.", "Права",
		"Параметры пути", "Параметры запроса", "Заголовки", "Cookie", "Тело",
		"Ответы", "Обратные вызовы", "Возможные значения", "Вариант", "Один из:", "Любые из:", "Как выше:",
		"Отправка", "Получение", "Сообщения", "Ответ", "Содержимое", "устарело",
		"Попробовать", "Отправить", "Запрос", "Ответ", "Статус", "Время",
		"Запрос не удался.",
		"Браузер не дал ответа этой странице. Сервер недоступен, или его правила CORS не разрешают вызовы с этой страницы; команда выше работает в терминале.",
		"Секреты хранятся в памяти страницы, пока она открыта.", "обязательно",
		"Тип содержимого", "Тип ответа",
		"Ссылки", "и",
	}
	wordsJa = wordList{
		"サーバー", "認証", "または", "認証は不要です。", "スコープ",
		"パスパラメータ", "クエリパラメータ", "ヘッダー", "Cookie", "ボディ",
		"レスポンス", "コールバック", "使用できる値", "選択肢", "次のいずれか1つ:", "次のいずれか:", "上と同じ:",
		"送信", "受信", "メッセージ", "返信", "ペイロード", "非推奨",
		"試す", "送信", "リクエスト", "レスポンス", "ステータス", "時間",
		"リクエストに失敗しました。",
		"ブラウザーはこのページに応答を渡しませんでした。サーバーに接続できないか、CORS ポリシーがこのページからの呼び出しを許可していません。上のコマンドはターミナルで使えます。",
		"秘密の値はページを閉じるまでメモリーにだけ残ります。", "必須",
		"コンテンツの種類", "レスポンスの種類",
		"リンク", "および",
	}
	wordsZh = wordList{
		"服务器", "授权", "或", "无需授权。", "权限范围",
		"路径参数", "查询参数", "请求头", "Cookie", "请求体",
		"响应", "回调", "可选值", "选项", "以下之一：", "以下任意：", "同上：",
		"发送", "接收", "消息", "回复", "内容", "已弃用",
		"试用", "发送", "请求", "响应", "状态", "耗时",
		"请求失败。",
		"浏览器没有把响应交给本页。服务器无法访问，或其 CORS 策略不允许从本页调用；上面的命令可在终端中使用。",
		"密钥只保存在本页内存中，关闭页面即消失。", "必填",
		"内容类型", "响应类型",
		"链接", "且",
	}
	wordsKo = wordList{
		"서버", "인증", "또는", "인증이 필요하지 않습니다.", "범위",
		"경로 매개변수", "쿼리 매개변수", "헤더", "쿠키", "본문",
		"응답", "콜백", "사용 가능한 값", "옵션", "다음 중 하나:", "다음 중 아무거나:", "위와 같음:",
		"보내기", "받기", "메시지", "회신", "페이로드", "지원 중단",
		"사용해 보기", "보내기", "요청", "응답", "상태", "시간",
		"요청이 실패했습니다.",
		"브라우저가 이 페이지에 응답을 주지 않았습니다. 서버에 연결할 수 없거나 CORS 정책이 이 페이지의 호출을 허용하지 않습니다. 위 명령은 터미널에서 사용할 수 있습니다.",
		"비밀 값은 페이지를 닫을 때까지 메모리에만 남습니다.", "필수",
		"콘텐츠 유형", "응답 유형",
		"링크", "그리고",
	}
	wordsAr = wordList{
		"الخوادم", "التفويض", "أو", "لا حاجة إلى تفويض.", "النطاقات",
		"معاملات المسار", "معاملات الاستعلام", "الترويسات", "ملفات الارتباط", "المتن",
		"الاستجابات", "الاستدعاءات الراجعة", "القيم المتاحة", "خيار", "واحد من هذه:", "أي من هذه:", "كما سبق:",
		"إرسال", "استقبال", "الرسائل", "الرد", "المحتوى", "مهمل",
		"جرّب", "إرسال", "الطلب", "الاستجابة", "الحالة", "الوقت",
		"فشل الطلب.",
		"لم يعطِ المتصفح هذه الصفحة استجابة. الخادم غير متاح، أو أن سياسة CORS لا تسمح بالنداء من هذه الصفحة؛ الأمر أعلاه يعمل في الطرفية.",
		"تبقى الأسرار في ذاكرة هذه الصفحة حتى تُغلق.", "مطلوب",
		"نوع المحتوى", "نوع الاستجابة",
		"روابط", "و",
	}
	wordsHe = wordList{
		"שרתים", "הרשאה", "או", "אין צורך בהרשאה.", "היקפים",
		"פרמטרים בנתיב", "פרמטרים בשאילתה", "כותרות", "עוגיות", "גוף",
		"תשובות", "קריאות חוזרות", "ערכים אפשריים", "אפשרות", "אחד מאלה:", "כל אחד מאלה:", "כמו למעלה:",
		"שליחה", "קבלה", "הודעות", "מענה", "תוכן", "לא מומלץ",
		"לנסות", "שליחה", "בקשה", "תשובה", "מצב", "זמן",
		"הבקשה נכשלה.",
		"הדפדפן לא מסר תשובה לדף הזה. השרת אינו זמין, או שמדיניות ה-CORS שלו אינה מתירה קריאות מדף זה; הפקודה שלמעלה פועלת במסוף.",
		"סודות נשארים בזיכרון הדף עד שהוא נסגר.", "חובה",
		"סוג התוכן", "סוג התשובה",
		"קישורים", "וגם",
	}
)

// wordsFor returns the words of a language (BCP 47, or a label of docs.json);
// English for one that there are no words of.
func wordsFor(lang string) *wordList {
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
