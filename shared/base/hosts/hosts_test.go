package hosts

import "testing"

func TestName(t *testing.T) {
	for host, want := range map[string]string{
		"": "", "Docs.Example.COM": "docs.example.com", "docs.example.com:8787": "docs.example.com", "docs.example.com.": "docs.example.com",
		"docs.example.com.:80": "docs.example.com", "[::1]:80": "::1", "[::1]": "::1", "::1": "::1", "127.0.0.1:1": "127.0.0.1",
	} {
		if got := Name(host); got != want {
			t.Errorf("Name(%q) is %q, want %q", host, got, want)
		}
	}
}

func TestIsAddress(t *testing.T) {
	for name, want := range map[string]bool{"127.0.0.1": true, "::1": true, "fe80::1%lo": true, "": false, "localhost": false, "127.0.0.1.example": false, "1": false} {
		if IsAddress(name) != want {
			t.Errorf("IsAddress(%q) is %t", name, !want)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for name, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "a.localhost": false, "0.0.0.0": false, "192.0.2.1": false, "127.0.0.1.example": false,
	} {
		if IsLoopback(name) != want {
			t.Errorf("IsLoopback(%q) is %t", name, !want)
		}
	}
}

func TestOfMachine(t *testing.T) {
	last := func(listen string) string { all := append([]string{""}, OfMachine(listen)...); return all[len(all)-1] }
	if got := last("Box.Example"); got != "box.example" {
		t.Errorf("a server that listens on Box.Example is not called that: %s", got)
	}
	if a, b := len(OfMachine("127.0.0.1")), len(OfMachine("")); a != b {
		t.Errorf("an address that is listened on adds %d names", a-b)
	}
}
