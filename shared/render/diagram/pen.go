package diagram

import (
	"math"
	"strconv"

	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// pen is a path of lines and cubic curves.
type pen struct {
	ops    []stroke
	closed bool
}

// stroke is one step of a path: to a, or by the control points a and b to c.
type stroke struct {
	kind    byte // M, L or C
	a, b, c layout.Point
}

func (p *pen) move(x, y float64) {
	p.ops = append(p.ops, stroke{kind: 'M', a: layout.Point{X: x, Y: y}})
}
func (p *pen) to(x, y float64) { p.ops = append(p.ops, stroke{kind: 'L', a: layout.Point{X: x, Y: y}}) }
func (p *pen) close()          { p.closed = true }

func (p *pen) curve(x1, y1, x2, y2, x3, y3 float64) {
	p.ops = append(p.ops, stroke{'C', layout.Point{X: x1, Y: y1}, layout.Point{X: x2, Y: y2}, layout.Point{X: x3, Y: y3}})
}

// turned is the path with x and y changed.
func (p pen) turned() pen {
	out := pen{closed: p.closed, ops: make([]stroke, len(p.ops))}
	for i, o := range p.ops {
		out.ops[i] = stroke{o.kind, layout.Point{X: o.a.Y, Y: o.a.X}, layout.Point{X: o.b.Y, Y: o.b.X}, layout.Point{X: o.c.Y, Y: o.c.X}}
	}
	return out
}

// points is the path as a line of short pieces.
func (p *pen) points() []layout.Point {
	var out []layout.Point
	for _, o := range p.ops {
		if o.kind != 'C' {
			out = append(out, o.a)
			continue
		}
		from := out[len(out)-1]
		const pieces = 12
		for i := 1; i <= pieces; i++ {
			t := float64(i) / pieces
			u := 1 - t
			k0, k1, k2, k3 := float64(u*u*u), float64(3*u*u*t), float64(3*u*t*t), float64(t*t*t)
			out = append(out, layout.Point{
				X: float64(k0*from.X) + float64(k1*o.a.X) + float64(k2*o.b.X) + float64(k3*o.c.X),
				Y: float64(k0*from.Y) + float64(k1*o.a.Y) + float64(k2*o.b.Y) + float64(k3*o.c.Y),
			})
		}
	}
	return out
}

// num2 adds a number with at most two digits after the point.
func (d *drawing) num2(v float64) {
	v = math.Round(v*100) / 100
	if v == 0 {
		v = 0 // no "-0"
	}
	d.b = strconv.AppendFloat(d.b, v, 'f', -1, 64)
}

func (d *drawing) at(p layout.Point, x, y float64) {
	d.num2(p.X + x)
	d.raw(" ")
	d.num2(p.Y + y)
}

// trace adds a path, moved by x and y, as the attribute d.
func (d *drawing) trace(p *pen, x, y float64) {
	d.raw(` d="`)
	for _, o := range p.ops {
		d.b = append(d.b, o.kind)
		d.at(o.a, x, y)
		if o.kind == 'C' {
			d.raw(" ")
			d.at(o.b, x, y)
			d.raw(" ")
			d.at(o.c, x, y)
		}
	}
	if p.closed {
		d.raw("Z")
	}
	d.raw(`"`)
}

// cut is where the line from a to b first meets an outline, of points that are
// moved by x and y; ok is false where it meets none.
func cut(outline []layout.Point, x, y float64, a, b layout.Point) (at layout.Point, ok bool) {
	best := math.Inf(1)
	dx, dy := b.X-a.X, b.Y-a.Y
	for i := range outline {
		p := outline[i]
		q := outline[(i+1)%len(outline)]
		px, py := p.X+x-a.X, p.Y+y-a.Y
		ex, ey := q.X-p.X, q.Y-p.Y
		det := float64(dx*ey) - float64(dy*ex)
		if math.Abs(det) < 1e-9 {
			continue
		}
		t := (float64(px*ey) - float64(py*ex)) / det
		u := (float64(px*dy) - float64(py*dx)) / det
		if t > -1e-6 && u >= -1e-6 && u <= 1+1e-6 && t < best {
			best = t
		}
	}
	if math.IsInf(best, 1) || best > 1+1e-6 {
		return a, false
	}
	return layout.Point{X: a.X + float64(best*dx), Y: a.Y + float64(best*dy)}, true
}
