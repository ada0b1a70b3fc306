package remote

import "testing"

func TestCallbacks(t *testing.T) {
	own := Callbacks{Private: []string{"hooks.corp", "10.0.0.7:8443", "http://ci.corp:8080"}}
	for address, want := range map[string]string{
		"https://hooks.example.com/bindery?token=1":   "",
		"https://HOOKS.example.com:443/":              "",
		"https://hooks.corp/in":                       "",
		"https://10.0.0.7:8443/in":                    "",
		"http://ci.corp:8080/in":                      "",
		"http://hooks.example.com/":                   "does not begin with https://",
		"http://hooks.corp/":                          "does not begin with https://",
		"https://10.0.0.8:8443/":                      "names no host by its name",
		"https://1.1.1.1/":                            "names no host by its name",
		"https://[2606:4700:4700::1111]/":             "names no host by its name",
		"https://0x7f.1/":                             "names no host of the internet",
		"https://2130706433/":                         "names no host of the internet",
		"https://localhost/":                          "names no host of the internet",
		"https://metadata.google.internal/":           "names no host of the internet",
		"https://hooks.example.com:8443/":             "has another port than 443",
		"https://me:secret@hooks.example.com/":        "has a user's name or password",
		"https://hooks.example.com/#part":             "has a fragment",
		"https:hooks.example.com":                     "names no host",
		"https:///in":                                 "names no host",
		"ftp://hooks.example.com/":                    "does not begin with https://",
		"https://hooks.example.com/\x00":              "is not an address",
		"":                                            "names no host",
		"https://ci.corp:8080/in":                     "",
		"https://hooks.corp.attacker.example.com:99/": "has another port than 443",
	} {
		if _, problem := own.Parse(address); problem != want {
			t.Errorf("%q: %q, want %q", address, problem, want)
		}
	}
	for host, want := range map[string]bool{
		"hooks.corp": true, "hooks.corp:443": true, "10.0.0.7:8443": true, "ci.corp:8080": true,
		"hooks.corp:80": false, "10.0.0.7:443": false, "hooks.example.com:443": false,
	} {
		if own.PrivateHost(host) != want {
			t.Errorf("%s: %v", host, !want)
		}
	}
}
