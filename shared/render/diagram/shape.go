package diagram

import "math"

// shape is what stands around a label.
type shape uint8

const (
	shapeRect shape = iota
	shapeRounded
	shapeState
	shapeStadium
	shapeSubroutine
	shapeCylinder
	shapeCircle
	shapeDouble
	shapeEllipse
	shapeOdd
	shapeDiamond
	shapeHexagon
	shapeLeanRight
	shapeLeanLeft
	shapeTrapezoid
	shapeTrapezoidTop
	shapeText
	shapeCard
	shapeLined
	shapeStart
	shapeEnd
	shapeSmall
	shapeFork
	shapeHourglass
	shapeBrace
	shapeBraceRight
	shapeBraces
	shapeBolt
	shapeDocument
	shapeDelay
	shapePipe
	shapeDisk
	shapeDisplay
	shapeDivided
	shapeTriangle
	shapeWindow
	shapeJunction
	shapeNotched
	shapeFlipped
	shapeSloped
	shapeDocuments
	shapeStack
	shapeBow
	shapeCrossed
	shapeTaggedDocument
	shapeTagged
	shapeFlag
	shapeLinedDocument
	shapeCloud
	shapeBang
	shapeChoice
	shapeNote
	shapeStore
	shapeParts
)

// shapeNames are Mermaid's names of shapes, for "@{ shape: … }".
var shapeNames = map[string]shape{
	"rect": shapeRect, "proc": shapeRect, "process": shapeRect, "rectangle": shapeRect, "square": shapeRect, "squareRect": shapeRect,
	"rounded": shapeRounded, "event": shapeRounded, "roundedRect": shapeRounded,
	"stadium": shapeStadium, "pill": shapeStadium, "terminal": shapeStadium,
	"fr-rect": shapeSubroutine, "framed-rectangle": shapeSubroutine, "subproc": shapeSubroutine, "subprocess": shapeSubroutine, "subroutine": shapeSubroutine,
	"cyl": shapeCylinder, "cylinder": shapeCylinder, "database": shapeCylinder, "db": shapeCylinder,
	"circle": shapeCircle, "circ": shapeCircle, "dbl-circ": shapeDouble, "double-circle": shapeDouble, "doublecircle": shapeDouble,
	"ellipse": shapeEllipse, "odd": shapeOdd, "rect_left_inv_arrow": shapeOdd,
	"diam": shapeDiamond, "decision": shapeDiamond, "diamond": shapeDiamond, "question": shapeDiamond,
	"hex": shapeHexagon, "hexagon": shapeHexagon, "prepare": shapeHexagon,
	"lean-r": shapeLeanRight, "lean-right": shapeLeanRight, "in-out": shapeLeanRight, "lean_right": shapeLeanRight,
	"lean-l": shapeLeanLeft, "lean-left": shapeLeanLeft, "out-in": shapeLeanLeft, "lean_left": shapeLeanLeft,
	"trap-b": shapeTrapezoid, "priority": shapeTrapezoid, "trapezoid": shapeTrapezoid, "trapezoid-bottom": shapeTrapezoid,
	"trap-t": shapeTrapezoidTop, "inv-trapezoid": shapeTrapezoidTop, "manual": shapeTrapezoidTop, "trapezoid-top": shapeTrapezoidTop, "inv_trapezoid": shapeTrapezoidTop,
	"text": shapeText, "card": shapeCard, "notch-rect": shapeCard, "notched-rectangle": shapeCard,
	"lin-rect": shapeLined, "lin-proc": shapeLined, "lined-process": shapeLined, "lined-rectangle": shapeLined, "shaded-process": shapeLined,
	"sm-circ": shapeSmall, "small-circle": shapeSmall, "start": shapeSmall,
	"fr-circ": shapeEnd, "framed-circle": shapeEnd, "stop": shapeEnd, "fork": shapeFork, "join": shapeFork,
	"hourglass": shapeHourglass, "collate": shapeHourglass, "brace": shapeBrace, "comment": shapeBrace, "brace-l": shapeBrace,
	"brace-r": shapeBraceRight, "braces": shapeBraces, "bolt": shapeBolt, "com-link": shapeBolt, "lightning-bolt": shapeBolt,
	"doc": shapeDocument, "document": shapeDocument, "delay": shapeDelay, "half-rounded-rectangle": shapeDelay,
	"h-cyl": shapePipe, "das": shapePipe, "horizontal-cylinder": shapePipe, "lin-cyl": shapeDisk, "disk": shapeDisk, "lined-cylinder": shapeDisk,
	"curv-trap": shapeDisplay, "curved-trapezoid": shapeDisplay, "display": shapeDisplay,
	"div-rect": shapeDivided, "div-proc": shapeDivided, "divided-process": shapeDivided, "divided-rectangle": shapeDivided,
	"tri": shapeTriangle, "extract": shapeTriangle, "triangle": shapeTriangle,
	"win-pane": shapeWindow, "internal-storage": shapeWindow, "window-pane": shapeWindow,
	"f-circ": shapeJunction, "filled-circle": shapeJunction, "junction": shapeJunction,
	"notch-pent": shapeNotched, "loop-limit": shapeNotched, "notched-pentagon": shapeNotched,
	"flip-tri": shapeFlipped, "flipped-triangle": shapeFlipped, "manual-file": shapeFlipped,
	"sl-rect": shapeSloped, "manual-input": shapeSloped, "sloped-rectangle": shapeSloped,
	"docs": shapeDocuments, "documents": shapeDocuments, "st-doc": shapeDocuments, "stacked-document": shapeDocuments,
	"st-rect": shapeStack, "procs": shapeStack, "processes": shapeStack, "stacked-rectangle": shapeStack,
	"bow-rect": shapeBow, "bow-tie-rectangle": shapeBow, "stored-data": shapeBow, "datastore": shapeStore, "data-store": shapeStore,
	"cross-circ": shapeCrossed, "crossed-circle": shapeCrossed, "summary": shapeCrossed,
	"tag-doc": shapeTaggedDocument, "tagged-document": shapeTaggedDocument,
	"tag-rect": shapeTagged, "tag-proc": shapeTagged, "tagged-process": shapeTagged, "tagged-rectangle": shapeTagged,
	"flag": shapeFlag, "paper-tape": shapeFlag, "lin-doc": shapeLinedDocument, "lined-document": shapeLinedDocument,
	"cloud": shapeCloud, "bang": shapeBang, "choice": shapeChoice, "note": shapeNote,
}

// wordless are shapes that show their labels only where the author gave one.
var wordless = map[shape]bool{
	shapeSmall: true, shapeEnd: true, shapeFork: true, shapeHourglass: true, shapeBolt: true, shapeJunction: true, shapeCrossed: true,
	shapeChoice: true, shapeStart: true,
}

// Room around labels in nodes, in pixels.
const (
	padX     = 16.0
	padY     = 10.0
	minWidth = 56.0
	lid      = 6.0 // half the height of a cylinder's lid
	wave     = 7.0 // of a document's lower side
	stacked  = 5.0 // between the sheets of a stack
	fold     = 10.0
)

// fixed are the sizes of shapes without a text in them.
var fixed = map[shape][2]float64{
	shapeStart: {16, 16}, shapeSmall: {16, 16}, shapeEnd: {20, 20}, shapeJunction: {12, 12}, shapeChoice: {28, 28}, shapeCrossed: {34, 34},
	shapeHourglass: {32, 36}, shapeBolt: {34, 40}, shapeFork: {78, 7},
}

// wider is what shapes need besides the room around a text.
var wider = map[shape][2]float64{
	shapeCylinder: {0, 2 * lid}, shapeDisk: {0, 3 * lid}, shapePipe: {3 * lid, 0}, shapeDocument: {0, 2 * wave}, shapeFlag: {0, 2 * wave},
	shapeTaggedDocument: {8, 2 * wave}, shapeLinedDocument: {8, 2 * wave}, shapeDocuments: {2 * stacked, 2*wave + 2*stacked},
	shapeStack: {2 * stacked, 2 * stacked}, shapeSloped: {0, 12}, shapeDivided: {10, 10}, shapeWindow: {10, 10}, shapeLined: {12, 0},
	shapeNotched: {12, 0}, shapeTagged: {12, 0}, shapeSubroutine: {12, 0},
}

// slanted is how much wider shapes are by their height.
var slanted = map[shape]float64{
	shapeHexagon: 0.3, shapeLeanRight: 0.6, shapeLeanLeft: 0.6, shapeTrapezoid: 0.6, shapeTrapezoidTop: 0.6, shapeOdd: 0.25,
	shapeBow: 0.5, shapeDelay: 0.5, shapeDisplay: 0.5,
}

// size returns the size of a node whose text has this one. down is whether the
// drawing runs from top to bottom or back.
func (s shape) size(tw, th float64, down bool) (w, h float64) {
	if f, ok := fixed[s]; ok {
		if s == shapeFork && !down {
			return f[1], f[0]
		}
		return f[0], f[1]
	}
	w, h = max(tw+2*padX, minWidth), max(th, lineHeight)+2*padY
	w, h = w+wider[s][0], h+wider[s][1]
	w += float64(slanted[s] * h)
	switch s {
	case shapeStadium:
		w = max(tw+h-6, minWidth)
	case shapeState:
		w = max(tw+2*padX, 48)
	case shapeCylinder, shapeDisk:
		w = max(tw+2*12, 64)
	case shapeCircle, shapeDouble:
		w = max(math.Ceil(math.Sqrt(float64(tw*tw)+float64(th*th)))+12, 40)
		if s == shapeDouble {
			w += 10
		}
		h = w
	case shapeEllipse, shapeCloud:
		w, h = math.Ceil(tw*1.3)+28, math.Ceil(th*1.4)+26
	case shapeBang:
		w, h = math.Ceil(tw*1.35)+36, math.Ceil(th*1.45)+36
	case shapeDiamond:
		// A rhombus holds a text whose parts of its width and height make one.
		th += 6
		w = float64(tw*1.3) + 24
		if h = th / (1 - tw/w); h > 0.72*w {
			w = tw + th/0.72 + 8
			h = 0.72 * w
		}
		h = max(h, 0.38*w)
	case shapeTriangle, shapeFlipped:
		w = tw + th + 2*padX + 20
		h = math.Ceil(w * 0.5)
		// The text is as high as the part of the triangle that is wide enough.
		h = max(h, math.Ceil((th+8)/(1-(tw+12)/w)))
	case shapeText:
		w, h = tw+8, th+8
	case shapeBrace, shapeBraceRight:
		w, h = tw+24, th+14
	case shapeBraces:
		w, h = tw+36, th+14
	case shapeNote:
		w, h = tw+2*notePadX+4, th+2*notePadY+4
	}
	return w, h
}

// figure is the form of a node around its middle.
type figure struct {
	outline pen
	under   []pen // filled, below the outline
	inner   []pen // lines on it
	open    bool  // the outline is not closed, and lines alone are drawn
	solid   bool  // it is a sign in the colour of texts
	plain   bool  // nothing is drawn
	dx, dy  float64
}

// figure returns what a node of this size looks like.
func (s shape) figure(w, h float64) figure {
	x, y := w/2, h/2
	f := figure{outline: box(-x, -y, x, y)}
	switch s {
	case shapeRounded, shapeState, shapeParts:
		f.outline = rounded(-x, -y, x, y, 8)
	case shapeStadium:
		f.outline = rounded(-x, -y, x, y, y)
	case shapeSubroutine:
		f.inner = []pen{line(-x+8, -y, -x+8, y), line(x-8, -y, x-8, y)}
	case shapeLined:
		f.inner = []pen{line(-x+8, -y, -x+8, y)}
		f.dx = 4
	case shapeCylinder, shapeDisk:
		f.outline = cylinder(x, y)
		f.inner = []pen{lidLine(x, -y+lid)}
		f.dy = lid * 0.7
		if s == shapeDisk {
			f.inner = append(f.inner, lidLine(x, -y+2*lid))
			f.dy = lid
		}
	case shapePipe:
		f.outline = cylinder(y, x).turned()
		f.inner = []pen{lidLine(y, -x+lid).turned()}
		f.dx = -lid
	case shapeCircle, shapeEllipse:
		f.outline = oval(x, y)
	case shapeDouble:
		f.outline = oval(x, y)
		f.inner = []pen{oval(x-5, y-5)}
	case shapeStart, shapeSmall, shapeJunction:
		f.outline, f.solid = oval(x, y), true
	case shapeEnd:
		f.outline = oval(x, y)
		f.inner = []pen{oval(x-5, y-5)}
	case shapeCrossed:
		d := x * math.Sqrt2 / 2
		f.outline = oval(x, y)
		f.inner = []pen{line(-d, -d, d, d), line(-d, d, d, -d)}
	case shapeFork:
		f.outline, f.solid = rounded(-x, -y, x, y, 2), true
	case shapeDiamond, shapeChoice:
		f.outline = polygon(0, -y, x, 0, 0, y, -x, 0)
	default:
		return s.cornered(f, w, h)
	}
	return f
}

// cornered is figure for forms of straight lines.
func (s shape) cornered(f figure, w, h float64) figure {
	x, y := w/2, h/2
	switch s {
	case shapeHexagon:
		m := min(h*0.3, x/2)
		f.outline = polygon(-x+m, -y, x-m, -y, x, 0, x-m, y, -x+m, y, -x, 0)
	case shapeLeanRight:
		f.outline = polygon(-x+h*0.4, -y, x, -y, x-h*0.4, y, -x, y)
	case shapeLeanLeft:
		f.outline = polygon(-x, -y, x-h*0.4, -y, x, y, -x+h*0.4, y)
	case shapeTrapezoid:
		f.outline = polygon(-x+h*0.4, -y, x-h*0.4, -y, x, y, -x, y)
	case shapeTrapezoidTop:
		f.outline = polygon(-x, -y, x, -y, x-h*0.4, y, -x+h*0.4, y)
	case shapeOdd:
		f.outline = polygon(-x, -y, x, -y, x, y, -x, y, -x+h/4, 0)
		f.dx = h / 8
	case shapeText:
		f.plain = true
	case shapeCard:
		f.outline = polygon(-x+fold, -y, x, -y, x, y, -x, y, -x, -y+fold)
	case shapeTriangle:
		f.outline = polygon(0, -y, x, y, -x, y)
		f.dy = h * 0.22
	case shapeFlipped:
		f.outline = polygon(-x, -y, x, -y, 0, y)
		f.dy = -h * 0.22
	case shapeHourglass:
		f.outline = polygon(-x, -y, x, -y, -x, y, x, y)
	case shapeBolt:
		f.outline = polygon(x*0.3, -y, -x, y*0.15, -x*0.1, y*0.15, -x*0.3, y, x, -y*0.15, x*0.1, -y*0.15)
	case shapeNotched:
		f.outline = polygon(-x+fold, -y, x-fold, -y, x, -y+fold, x, y, -x, y, -x, -y+fold)
	case shapeSloped:
		f.outline = polygon(-x, -y+12, x, -y, x, y, -x, y)
		f.dy = 6
	case shapeDivided:
		f.inner = []pen{line(-x, -y+10, x, -y+10)}
		f.dy = 5
	case shapeWindow:
		f.inner = []pen{line(-x, -y+8, x, -y+8), line(-x+8, -y, -x+8, y)}
		f.dx, f.dy = 4, 4
	case shapeTagged:
		f.inner = []pen{line(x, y-fold, x-fold, y)}
	default:
		return s.curved(f, w, h)
	}
	return f
}

// curved is figure for forms with curves of their own.
func (s shape) curved(f figure, w, h float64) figure {
	x, y := w/2, h/2
	switch s {
	case shapeDocument:
		f.outline = document(-x, -y, x, y)
		f.dy = -wave
	case shapeTaggedDocument:
		f.outline = document(-x, -y, x, y)
		f.inner = []pen{line(x, y-wave-fold-4, x-fold-2, y-wave-2)}
		f.dy = -wave
	case shapeLinedDocument:
		f.outline = document(-x, -y, x, y)
		f.inner = []pen{line(-x+8, -y, -x+8, y-2)}
		f.dx, f.dy = 4, -wave
	case shapeDocuments:
		f.under = []pen{document(-x+2*stacked, -y, x, y-2*stacked), document(-x+stacked, -y+stacked, x-stacked, y-stacked)}
		f.outline = document(-x, -y+2*stacked, x-2*stacked, y)
		f.dx, f.dy = -stacked, stacked-wave
	case shapeStack:
		f.under = []pen{box(-x+2*stacked, -y, x, y-2*stacked), box(-x+stacked, -y+stacked, x-stacked, y-stacked)}
		f.outline = box(-x, -y+2*stacked, x-2*stacked, y)
		f.dx, f.dy = -stacked, stacked
	case shapeFlag:
		var p pen
		p.move(-x, -y+wave)
		p.curve(-x/2, -y+3*wave, -x/4, -y+2*wave, 0, -y+wave)
		p.curve(x/4, -y, x/2, -y-wave, x, -y+wave)
		p.to(x, y-wave)
		p.curve(x/2, y-3*wave, x/4, y-2*wave, 0, y-wave)
		p.curve(-x/4, y, -x/2, y+wave, -x, y-wave)
		p.close()
		f.outline = p
	case shapeDelay:
		var p pen
		p.move(-x, -y)
		p.to(x-y, -y)
		p.curve(x-y+round*y, -y, x, -round*y, x, 0)
		p.curve(x, round*y, x-y+round*y, y, x-y, y)
		p.to(-x, y)
		p.close()
		f.outline = p
	case shapeDisplay:
		var p pen
		p.move(-x, 0)
		p.to(-x+y*0.8, -y)
		p.to(x-y*0.5, -y)
		p.curve(x+y*0.17, -y, x+y*0.17, y, x-y*0.5, y)
		p.to(-x+y*0.8, y)
		p.close()
		f.outline = p
	case shapeBow:
		var p pen
		c := y * 0.4
		p.move(-x+c, -y)
		p.to(x, -y)
		p.curve(x-c*1.33, -y*0.5, x-c*1.33, y*0.5, x, y)
		p.to(-x+c, y)
		p.curve(-x-c*0.33, y*0.5, -x-c*0.33, -y*0.5, -x+c, -y)
		p.close()
		f.outline = p
	case shapeBrace:
		f.outline, f.open = brace(-x, y, 1), true
		f.dx = 6
	case shapeBraceRight:
		f.outline, f.open = brace(x, y, -1), true
		f.dx = -6
	case shapeBraces:
		f.outline, f.open = brace(-x, y, 1), true
		f.inner = []pen{brace(x, y, -1)}
	case shapeStore:
		f.outline, f.open = pen{}, true
		f.outline.move(-x, -y)
		f.outline.to(x, -y)
		f.outline.move(-x, y)
		f.outline.to(x, y)
	case shapeCloud:
		f.outline = bumps(x, y, 10, 1.32)
	case shapeBang:
		f.outline = bumps(x, y, 14, 0.7)
	case shapeNote:
		f.outline = rounded(-x, -y, x, y, 2)
	}
	return f
}

func box(x1, y1, x2, y2 float64) pen { return polygon(x1, y1, x2, y1, x2, y2, x1, y2) }

func line(x1, y1, x2, y2 float64) pen {
	var p pen
	p.move(x1, y1)
	p.to(x2, y2)
	return p
}

func polygon(at ...float64) pen {
	var p pen
	p.move(at[0], at[1])
	for i := 2; i+1 < len(at); i += 2 {
		p.to(at[i], at[i+1])
	}
	p.close()
	return p
}

// round is how far the control points of a curve stand for a quarter of a
// circle of radius one.
const round = 0.5523

func rounded(x1, y1, x2, y2, r float64) pen {
	r = min(r, (x2-x1)/2, (y2-y1)/2)
	c := float64(r * (1 - round))
	var p pen
	p.move(x1+r, y1)
	p.to(x2-r, y1)
	p.curve(x2-c, y1, x2, y1+c, x2, y1+r)
	p.to(x2, y2-r)
	p.curve(x2, y2-c, x2-c, y2, x2-r, y2)
	p.to(x1+r, y2)
	p.curve(x1+c, y2, x1, y2-c, x1, y2-r)
	p.to(x1, y1+r)
	p.curve(x1, y1+c, x1+c, y1, x1+r, y1)
	p.close()
	return p
}

// oval is an ellipse with these half axes.
func oval(x, y float64) pen {
	cx, cy := float64(x*round), float64(y*round)
	var p pen
	p.move(0, -y)
	p.curve(cx, -y, x, -cy, x, 0)
	p.curve(x, cy, cx, y, 0, y)
	p.curve(-cx, y, -x, cy, -x, 0)
	p.curve(-x, -cy, -cx, -y, 0, -y)
	p.close()
	return p
}

func cylinder(x, y float64) pen {
	var p pen
	p.move(-x, -y+lid)
	p.curve(-x, -y-lid*0.33, x, -y-lid*0.33, x, -y+lid)
	p.to(x, y-lid)
	p.curve(x, y+lid*0.33, -x, y+lid*0.33, -x, y-lid)
	p.close()
	return p
}

// lidLine is the front of a cylinder's lid.
func lidLine(x, y float64) pen {
	var p pen
	p.move(-x, y)
	p.curve(-x, y+lid*1.33, x, y+lid*1.33, x, y)
	return p
}

// document is a sheet whose lower side is a wave.
func document(x1, y1, x2, y2 float64) pen {
	m := (x1 + x2) / 2
	q := (x2 - x1) / 4
	var p pen
	p.move(x1, y1)
	p.to(x2, y1)
	p.to(x2, y2-wave)
	p.curve(m+q, y2-3*wave, m+q/2, y2-2*wave, m, y2-wave)
	p.curve(m-q/2, y2, m-q, y2+wave, x1, y2-wave)
	p.close()
	return p
}

// brace is a curly bracket at x, open to the side dir.
func brace(x, y, dir float64) pen {
	var p pen
	a, b := x+5*dir, x+11*dir
	p.move(b, -y)
	p.curve(a, -y, a, -y, a, -y+6)
	p.to(a, -5)
	p.curve(a, -1, a, 0, x, 0)
	p.curve(a, 0, a, 1, a, 5)
	p.to(a, y-6)
	p.curve(a, y, a, y, b, y)
	return p
}

// bumps is an ellipse of n arcs that swell or sink by bulge.
func bumps(x, y float64, n int, bulge float64) pen {
	var p pen
	at := func(i int, k float64) (float64, float64) {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(2*n))
		return float64(k * x * sin), float64(-k * y * cos)
	}
	px, py := at(0, 0.86)
	p.move(px, py)
	for i := range n {
		mx, my := at(2*i+1, 0.86*bulge)
		ex, ey := at(2*i+2, 0.86)
		p.curve(px+(mx-px)*0.75, py+(my-py)*0.75, ex+(mx-ex)*0.75, ey+(my-ey)*0.75, ex, ey)
		px, py = ex, ey
	}
	p.close()
	return p
}
