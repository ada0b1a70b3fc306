package reference

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

// Messages of the components that no channel has are reported, each once. A message that
// another one of a channel, an answer or a trait leads to is on a page.
func TestUnusedMessages(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "components: {messages: {a: {}}}\nchannels: {c: {messages: {a: {$ref: '#/components/messages/a'}}}}", nil},
		{"without channels", "components: {messages: {a: {}, x-b: {}}}\nchannels: {}", []string{"a"}},
		{"one of two", "components: {messages: {a: {}, b/c: {}, d/e: {}}}\nchannels: {c: {messages: {a: {$ref: '#/components/messages/b~1c'}}}}", []string{"a", "d/e"}},
		{"as an alternative", "components: {messages: {a: {}, b: {}}}\nchannels: {c: {publish: {message: {oneOf: [{$ref: '#/components/messages/a'}]}}}}", []string{"b"}},
		{"as an answer", "components: {messages: {a: {}}, replies: {r: {messages: [{$ref: '#/components/messages/a'}]}}}\nchannels: {}", nil},
		{"by a file of its own", "components: {messages: {a: {}}}\nchannels: {c: {messages: {a: {$ref: 'x.yaml#/components/messages/a'}}}}", nil},
		{"in a channel of the components", "components: {messages: {a: {}}, channels: {c: {messages: {a: {$ref: '#/components/messages/a'}}}}}\nchannels: {}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(fstest.MapFS{"x.yaml": {Data: []byte("asyncapi: 3.0.0\n" + c.text + "\n")}})
			if r.Spec("x.yaml") == nil {
				t.Fatal("no specification")
			}
			var got, want []string
			for _, d := range r.Diagnostics() {
				got = append(got, fmt.Sprintf("%s %s:%d %s", d.Code, d.File, d.Line, d.Message))
			}
			for _, name := range c.want {
				want = append(want, fmt.Sprintf("api-message x.yaml:2 no channel has the message %q: no page shows it", name))
			}
			if !slices.Equal(got, want) {
				t.Errorf("reported is %q, want %q", got, want)
			}
		})
	}
}
