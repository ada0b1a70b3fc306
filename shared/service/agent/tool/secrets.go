package tool

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/edit"
)

// secretForms are secrets with a known form. Only the parts of a text around one of
// the texts in needs are searched. Where a form has a group, that is the value.
var secretForms = []struct {
	kind  string
	needs []string
	form  func() *regexp.Regexp
}{
	{"a private key", []string{"PRIVATE KEY"}, lazy.Regexp(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----`)},
	{"a key of AWS", []string{"AKIA", "ASIA", "ABIA", "ACCA"}, lazy.Regexp(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`)},
	{"a token of GitHub", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, lazy.Regexp(`\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}`)},
	{"a token of GitLab", []string{"gl"}, lazy.Regexp(`\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent)-[A-Za-z0-9_-]{20,}`)},
	{"a token of Slack", []string{"xox", "xapp-", "hooks.slack.com"}, lazy.Regexp(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}`)},
	{"a key of Stripe", []string{"_live_", "whsec_"}, lazy.Regexp(`\b(?:sk|rk)_live_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/]{24,}`)},
	{"a key of Anthropic", []string{"sk-ant-"}, lazy.Regexp(`\bsk-ant-[A-Za-z0-9_-]{20,}`)},
	{"a key of OpenAI", []string{"sk-"}, lazy.Regexp(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|\bsk-[A-Za-z0-9]{40,}\b`)},
	{"a key of Google", []string{"AIza", "ya29.", "GOCSPX-"}, lazy.Regexp(`\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}`)},
	{"a token of npm", []string{"npm_"}, lazy.Regexp(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"a token of PyPI", []string{"pypi-"}, lazy.Regexp(`\bpypi-AgE[A-Za-z0-9_-]{50,}`)},
	{"a key of SendGrid", []string{"SG."}, lazy.Regexp(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}`)},
	{"a token of Hugging Face", []string{"hf_"}, lazy.Regexp(`\bhf_[A-Za-z0-9]{30,}\b`)},
	{"a token of DigitalOcean", []string{"_v1_"}, lazy.Regexp(`\bdo[opr]_v1_[a-f0-9]{64}\b`)},
	{"a token of Shopify", []string{"shp"}, lazy.Regexp(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`)},
	{"a token of Docker", []string{"dckr_pat_"}, lazy.Regexp(`\bdckr_pat_[A-Za-z0-9_-]{20,}`)},
	{"a secret key of age", []string{"AGE-SECRET-KEY-"}, lazy.Regexp(`\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`)},
	{"a key of Bindery", []string{"bnd_"}, lazy.Regexp(`\bbnd_([A-Za-z0-9_-]{20,})`)},
	{"a test key of Stripe", []string{"k_test_"}, lazy.Regexp(`\b[sr]k_test_([A-Za-z0-9]{16,})`)},
	{"a key of Groq", []string{"gsk_"}, lazy.Regexp(`\bgsk_([A-Za-z0-9]{32,})`)},
	{"a key of xAI", []string{"xai-"}, lazy.Regexp(`\bxai-([A-Za-z0-9]{40,})`)},
	{"a key of OpenRouter", []string{"sk-or-"}, lazy.Regexp(`\bsk-or-v1-([0-9a-f]{40,})`)},
	{"a token of Replicate", []string{"r8_"}, lazy.Regexp(`\br8_([A-Za-z0-9]{37,})`)},
	{"a key of Linear", []string{"lin_"}, lazy.Regexp(`\blin_(?:api|oauth)_([A-Za-z0-9]{30,})`)},
	{"a token of Notion", []string{"secret_", "ntn_"}, lazy.Regexp(`\b(?:secret|ntn)_([A-Za-z0-9]{40,})`)},
	{"a key of Supabase", []string{"sbp_", "sb_secret_"}, lazy.Regexp(`\b(?:sbp_|sb_secret_)([A-Za-z0-9_-]{20,})`)},
	{"a token of PlanetScale", []string{"pscale_"}, lazy.Regexp(`\bpscale_(?:tkn|pw|oauth|api)_([A-Za-z0-9_.=-]{30,})`)},
	{"a token of Atlassian", []string{"ATATT3", "ATCTT3", "ATBB"}, lazy.Regexp(`\bAT[AC]TT3([A-Za-z0-9_=-]{50,})|\bATBB([A-Za-z0-9]{28,})`)},
	{"a key of Postman", []string{"PMAK-"}, lazy.Regexp(`\bPMAK-([a-f0-9]{24}-[a-f0-9]{30,})`)},
	{"a key of New Relic", []string{"NRA", "NRJS-", "NRII-"}, lazy.Regexp(`\bNR(?:A[AK]|II)-([A-Za-z0-9_-]{27,})|\bNRJS-([a-f0-9]{19})`)},
	{"a key of Twilio", []string{"SK"}, lazy.Regexp(`\bSK([0-9a-f]{32})\b`)},
	{"a key of Mailgun", []string{"key-", "pubkey-"}, lazy.Regexp(`\b(?:pub)?key-([0-9a-f]{32})\b`)},
	{"a key of Mailchimp", []string{"-us"}, lazy.Regexp(`\b([0-9a-f]{32}-us[0-9]{1,2})\b`)},
	{"a key of Heroku", []string{"HRKU-"}, lazy.Regexp(`\bHRKU-([A-Za-z0-9_-]{30,})`)},
	{"a token of Grafana", []string{"glsa_", "glc_"}, lazy.Regexp(`\b(?:glsa|glc)_([A-Za-z0-9_=+/-]{30,})`)},
	{"a token of Terraform Cloud", []string{".atlasv1."}, lazy.Regexp(`\b[A-Za-z0-9]{14}\.atlasv1\.([A-Za-z0-9_=-]{50,})`)},
	{"a token of Doppler", []string{"dp."}, lazy.Regexp(`\bdp\.(?:pt|st|ct|sa|scim|audit)\.([A-Za-z0-9_.-]{40,})`)},
	{"a token of Databricks", []string{"dapi"}, lazy.Regexp(`\bdapi([0-9a-f]{32})`)},
	{"a token of Figma", []string{"fig"}, lazy.Regexp(`\bfig[a-z]{1,2}_([A-Za-z0-9_-]{30,})`)},
	{"a token of Airtable", []string{"pat"}, lazy.Regexp(`\bpat([A-Za-z0-9]{14}\.[a-f0-9]{64})\b`)},
	{"a token of a Telegram bot", []string{":AA"}, lazy.Regexp(`\b[0-9]{8,10}:(AA[A-Za-z0-9_-]{33})\b`)},
	{"a webhook of Discord", []string{"/api/webhooks/"}, lazy.Regexp(`discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([A-Za-z0-9_-]{60,})`)},
	{"a signature of Azure", []string{"sig="}, lazy.Regexp(`[?&]s[evptrk]=[^\s"'<>\x60]*[?&]sig=([A-Za-z0-9%+/]{40,}=*)|[?&]sig=([A-Za-z0-9%+/]{40,}=*)&s[evptrk]=`)},
	{"a key of Azure", []string{"AccountKey=", "SharedAccessKey="}, lazy.Regexp(`\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}=*)`)},
	{"a key of Cloudflare", []string{"v1.0-", "cfut_", "cfat_", "cfk_"}, lazy.Regexp(`\bv1\.0-([a-f0-9]{24}-[a-f0-9]{100,})|\bcf(?:ut|at|k)_([A-Za-z0-9_-]{40,})`)},
	{"a token of Sentry", []string{"sntry"}, lazy.Regexp(`\bsntry[a-z]_([A-Za-z0-9+/=_-]{40,})`)},
	{"a token of Square", []string{"sq0", "EAAA"}, lazy.Regexp(`\bsq0[a-z]{3}-([A-Za-z0-9_-]{22,})|\bEAAA([A-Za-z0-9_-]{56,})`)},
	{"a token of Buildkite", []string{"bk"}, lazy.Regexp(`\bbk(?:ua|ct|aj|pt)_([a-f0-9]{40})`)},
	{"a token of crates.io", []string{"cio"}, lazy.Regexp(`\bcio([A-Za-z0-9]{32})\b`)},
	{"a key of RubyGems", []string{"rubygems_"}, lazy.Regexp(`\brubygems_([a-f0-9]{48})`)},
	{"a token of Pulumi", []string{"pul-"}, lazy.Regexp(`\bpul-([a-f0-9]{40})`)},
	{"a token of Fly", []string{"FlyV1", "fo1_", "fm1", "fm2_"}, lazy.Regexp(`\bfo1_([A-Za-z0-9_-]{40,})|\bfm[12][ar]?_([A-Za-z0-9+/=,_-]{80,})`)},
	{"a token of Netlify", []string{"nfp_"}, lazy.Regexp(`\bnfp_([A-Za-z0-9]{36,})`)},
	{"a token of Vercel", []string{"vercel_blob_rw_"}, lazy.Regexp(`\bvercel_blob_rw_([A-Za-z0-9_]{30,})`)},
	{"a signed token", []string{"eyJ"}, lazy.Regexp(`\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}`)},
	{"a password in an address", []string{"://"}, lazy.Regexp(`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>{}$]{1,60}:([^\s/@"'<>{}$\[\]*]{8,80})@[^\s/@"'<>]+`)},
}

// assignment finds a value with a name that suggests a secret.
var assignment = lazy.Regexp(`(?i)(?:secret|token|passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|credential)s?["'\x60]?[ \t]*(?:[:=]|=>|:=)[ \t]*["'\x60]?(?:bearer )?([A-Za-z0-9+/_=.-]{20,200})`)

// placeholder finds words that authors write instead of a secret.
var placeholder = lazy.Regexp(`(?i)example|sample|dummy|placeholder|changeme|your[_-]|my[_-]|xxxx|\*\*\*|\.\.\.|1234567|abcdef|test[_-]|fake|redacted|process\.env|os\.environ|_here|token_|secret_|insert|<|\{`)

// secretNames are the names that assignment looks for, in lower case.
var secretNames = []string{"secret", "token", "passw", "passphrase", "key", "credential"}

// samples are values in the documentation of those who issue such keys. Tokens of
// jwt.io and of RFC 7519 are known by their claims.
var samples = wordSet(`4eC39HqLyjWDarjtT1zdp7dc BQokikJOvBiI2HlWgH4olfQ2 tR3PYbcVNZZ796tH88S4VQ2u 16C7e42F292c6912E7710c838347Ae178B4a
	AIzaSyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe AIzaSyAOVYRIgupAurZup5y1PRh8Ismb1A3lLao`)

// sampleMark finds words that make a value of a known form a sample.
var sampleMark = lazy.Regexp(`(?i)example|sample|dummy|placeholder|changeme|your[_-]|x{4}|0{8}|\*\*\*|\.\.\.|1234567|abcdefg|fake|redacted|_here|insert|<|\{`)

// isSample reports whether a value is a well-known one, which opens nothing.
func isSample(value string) bool {
	if sampleMark().MatchString(value) {
		return true
	}
	for known := range samples() {
		if strings.Contains(value, known) {
			return true
		}
	}
	parts := strings.Split(value, ".")
	if len(parts) != 3 {
		return false
	}
	said, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	return err == nil && (strings.Contains(string(said), `"1234567890"`) || strings.Contains(string(said), "example.com"))
}

// secrets finds values that look like secrets, each value once at a place.
func secrets(p, text string) []mark {
	all := append(ours(text), theirs(p, text)...)
	slices.SortStableFunc(all, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	end := 0 // several rules know one value
	return slices.DeleteFunc(all, func(m mark) bool {
		known := m.at < end
		if !known {
			end = m.at + len(m.text)
		}
		return known
	})
}

// ours finds secrets by our own rules.
func ours(text string) []mark {
	var all []mark
	for _, f := range secretForms {
		for _, w := range windows(text, f.needs) {
			part := text[w.From:w.To]
			for _, m := range f.form().FindAllStringSubmatchIndex(part, -1) {
				from, to := group(m)
				judged := part[from:to]
				grouped := from > m[0] || to < m[1]
				switch {
				case isSample(judged):
				case !grouped && placeholder().MatchString(judged):
				case grouped && (entropy(judged) < 3 || strings.Contains(strings.ToLower(judged), "pass")):
				default:
					all = append(all, mark{w.From + m[0], f.kind, part[m[0]:m[1]]})
				}
			}
		}
	}
	for _, w := range windows(lowered(text), secretNames) {
		part := text[w.From:w.To]
		for _, m := range assignment().FindAllStringSubmatchIndex(part, -1) {
			value := part[m[2]:m[3]]
			mixed := strings.ContainsAny(value, "0123456789") && strings.ToUpper(value) != strings.ToLower(value)
			if mixed && entropy(value) >= 3.7 && !placeholder().MatchString(value) && !strings.Contains(value, "..") {
				all = append(all, mark{w.From + m[2], "a value that its name calls secret", value})
			}
		}
	}
	return all
}

// group returns where the first group that matched is, or else the whole match.
func group(m []int) (from, to int) {
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && m[i+1] > m[i] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// leakRule is a rule of gitleaks.
type leakRule struct {
	ID          string
	Regex       string
	Path        string
	Entropy     float64
	SecretGroup int
	Keywords    []string
	Allowlists  []leakAllowed

	form, path func() *regexp.Regexp
}

// leakAllowed lists the exceptions of a rule of gitleaks.
type leakAllowed struct {
	RegexTarget string
	Regexes     []string
	StopWords   []string

	forms func() []*regexp.Regexp
}

// tooBroad are rules of gitleaks that find words near common names, as pages on keys
// have them; assignment has that part.
var tooBroad = wordSet(`generic-api-key kubernetes-secret-yaml curl-auth-header curl-auth-user hashicorp-tf-password`)

// leakRules are the rules of gitleaks, read from the file that its module embeds. An
// expression is compiled when a text has one of its words.
var leakRules = sync.OnceValue(func() []leakRule {
	var file struct {
		Allowlist leakAllowed
		Rules     []leakRule
	}
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic(fmt.Errorf("the rules of gitleaks: %w", err)) // the version is pinned, and a test reads them
	}
	rules := slices.DeleteFunc(file.Rules, func(r leakRule) bool { return r.Regex == "" || tooBroad()[r.ID] })
	for i := range rules {
		r := &rules[i]
		r.form, r.path = lazy.Regexp(r.Regex), lazy.Regexp(r.Path)
		r.Allowlists = append(r.Allowlists, file.Allowlist)
		for j := range r.Allowlists {
			expressions := r.Allowlists[j].Regexes
			r.Allowlists[j].forms = sync.OnceValue(func() (all []*regexp.Regexp) {
				for _, e := range expressions {
					all = append(all, regexp.MustCompile(e))
				}
				return all
			})
		}
	}
	return rules
})

// theirs finds secrets by the rules of gitleaks.
func theirs(p, text string) []mark {
	var all []mark
	lower := lowered(text)
	for _, r := range leakRules() {
		if r.Path != "" && !r.path().MatchString(p) {
			continue
		}
		for _, w := range windows(lower, r.Keywords) {
			all = append(all, r.find(text[w.From:w.To], w.From)...)
		}
	}
	return all
}

// lowered returns a text with the letters A to Z in lower case, and its length.
func lowered(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// windows returns the parts of a text around one of some words: an expression takes
// long on a whole file of megabytes.
func windows(lower string, words []string) []edit.Span {
	const before, after = 100, 1500
	var all []edit.Span
	for _, w := range words {
		for at := 0; ; {
			i := strings.Index(lower[at:], w)
			if i < 0 {
				break
			}
			at += i
			all = append(all, edit.Span{From: max(0, at-before), To: min(len(lower), at+after)})
			at += len(w)
		}
	}
	slices.SortFunc(all, func(a, b edit.Span) int { return cmp.Compare(a.From, b.From) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// find applies a rule to a part of a text, which begins at the byte base of it.
func (r *leakRule) find(text string, base int) (all []mark) {
	for _, m := range r.form().FindAllStringSubmatchIndex(text, -1) {
		from, to := group(m)
		if i := 2 * r.SecretGroup; i > 0 && i+1 < len(m) && m[i] >= 0 {
			from, to = m[i], m[i+1]
		}
		value := text[from:to]
		if entropy(value) < r.Entropy || placeholder().MatchString(value) || isSample(value) || r.passes(value, text[m[0]:m[1]]) {
			continue
		}
		all = append(all, mark{base + from, "a " + strings.ReplaceAll(r.ID, "-", " "), value})
	}
	return all
}

// passes reports whether a rule lets a value pass.
func (r *leakRule) passes(value, match string) bool {
	low := strings.ToLower(value)
	for _, a := range r.Allowlists {
		target := value
		if a.RegexTarget != "" {
			target = match
		}
		if slices.ContainsFunc(a.StopWords, func(w string) bool { return strings.Contains(low, strings.ToLower(w)) }) ||
			slices.ContainsFunc(a.forms(), func(f *regexp.Regexp) bool { return f.MatchString(target) }) {
			return true
		}
	}
	return false
}

// freshSecrets finds the secrets in a text of a file that neither its old text nor
// a file of the site has. read returns a file of the site as it was published.
func freshSecrets(p, text, old string, published func(value string) bool) []mark {
	return slices.DeleteFunc(secrets(p, freshLines(text, old)), func(m mark) bool {
		return strings.Contains(old, m.text) || published(m.text)
	})
}

// freshLines empties the lines of a text that an old text has, too. The other lines stay
// at their places.
func freshLines(text, old string) string {
	if old == "" {
		return text
	}
	known := map[string]bool{}
	for line := range strings.Lines(old) {
		known[strings.TrimRight(line, "\r\n")] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if bare := strings.TrimRight(line, "\r\n"); known[bare] {
			b.WriteString(strings.Repeat(" ", len(bare)))
			line = line[len(bare):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// Redact returns a text with the secrets in it replaced by their kinds.
func Redact(text string) string {
	found := secrets("", text)
	for i := len(found) - 1; i >= 0; i-- {
		m := found[i]
		text = text[:m.at] + "(" + m.kind + ")" + text[m.at+len(m.text):]
	}
	return text
}

// Parts of a private key: its last line, and the lines before it, for a key without an
// end.
var (
	keyEnd   = lazy.Regexp(`-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyLines = lazy.Regexp(`\A(?:[^\n]*\n(?:[\s"'+#/*>|-]*[A-Za-z0-9+/=]{16,}(?:\\n)*["',;+ \t\r]*(?:\n|\z))+)`)
	// keyInBase64 finds a key or certificate that was encoded once more.
	keyInBase64 = lazy.Regexp(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]{20,}`)
	// valueRest matches characters of a value that a rule with a bound left over.
	valueRest = lazy.Regexp(`\A[A-Za-z0-9+/_=.-]+`)
)

// maxKey is the most bytes of a private key from its first line to its last one.
const maxKey = 64 << 10

// masked returns the text of a file with each secret in it replaced by its kind, and
// how many these are. Line breaks in a secret stay, so that lines keep their numbers.
func masked(p, text string) (string, int) {
	all := append(ours(text), theirs(p, text)...)
	for _, m := range keyInBase64().FindAllStringIndex(text, -1) {
		all = append(all, mark{m[0], "a key in base64", text[m[0]:m[1]]})
	}
	slices.SortStableFunc(all, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	n, at, end := 0, 0, 0 // end of the text that is copied or masked
	for _, m := range all {
		to := m.at + len(m.text)
		if strings.Contains(m.text, "PRIVATE KEY") {
			to = max(to, keyTo(text, m.at))
		}
		to += len(valueRest().FindString(text[to:]))
		if to <= end && n > 0 {
			continue // several rules know one value
		}
		from := max(m.at, end)
		b.WriteString(text[at:from])
		if m.at >= end || n == 0 {
			n++
			b.WriteString("(masked: " + m.kind + ")")
		}
		b.WriteString(strings.Repeat("\n", strings.Count(text[from:to], "\n")))
		at, end = to, to
	}
	b.WriteString(text[at:])
	return b.String(), n
}

// keyTo returns where a private key ends that begins at the byte from.
func keyTo(text string, from int) int {
	rest := text[from:min(len(text), from+maxKey)]
	if m := keyEnd().FindStringIndex(rest); m != nil && strings.Count(rest[:m[1]], "-----BEGIN ") == 1 {
		return from + m[1]
	}
	return from + len(keyLines().FindString(rest))
}

// entropy returns how many bits a character of s has, by how often each is there.
func entropy(s string) float64 {
	var count [256]int
	for i := 0; i < len(s); i++ {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			share := float64(n) / float64(len(s))
			bits -= share * math.Log2(share)
		}
	}
	return bits
}
