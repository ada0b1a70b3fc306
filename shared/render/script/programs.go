package script

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"sync"

	"github.com/dop251/goja"
	"github.com/klauspost/compress/zstd"
)

//go:embed data licences/mermaid.txt licences/preact.txt
var data embed.FS

// maxProgram bounds what a packed program may unpack to; Mermaid's runtime has
// 3.6 MB.
const maxProgram = 16 << 20

func unpack(name string) ([]byte, error) {
	packed, err := data.ReadFile("data/" + name + ".js.zst")
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	r, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxProgram))
	if err != nil {
		return nil, fmt.Errorf("script: %s: %w", name, err)
	}
	defer r.Close()
	code, err := io.ReadAll(io.LimitReader(r, maxProgram))
	if err != nil {
		return nil, fmt.Errorf("script: %s: %w", name, err)
	}
	return code, nil
}

// program is a library that is compiled when it is needed first.
type program struct {
	name string
	once sync.Once
	code *goja.Program
	err  error
}

func (p *program) compiled() (*goja.Program, error) {
	p.once.Do(func() {
		var src []byte
		if src, p.err = unpack(p.name); p.err == nil {
			p.code, p.err = goja.Compile(p.name+".js", string(src), false)
		}
	})
	return p.code, p.err
}
