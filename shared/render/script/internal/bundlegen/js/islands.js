// What brings components to life on a page: Preact under React's names, the
// frames of built-in components, and the start of a page's own script. Without
// it pages show what the components showed at export.
import { Component, Fragment, createContext, h, options, render } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import * as compat from 'preact/compat';

const react = { ...compat.default, ...compat, h: element, createElement: element, jsx, jsxs: jsx, jsxDEV: jsx, Fragment };
react.default = react;
// Each island is drawn for itself, and Preact's own count begins anew with each.
let ids = 0;
react.useId = () => useState(() => 'i_' + (ids += 1))[0];

// Authors write <Error> without an import, and new Error too.
let errorCallout = null;
function element(type, ...rest) {
  if (type === Error) type = errorCallout = errorCallout || react.builtin('Error');
  return h(type, ...rest);
}
function jsx(type, props, key) {
  return element(type, key === undefined ? props : { ...props, key });
}

// addresses are those that the export knew, as they are on this page.
let addresses = {};
let root = '';
const holders = { a: 'href', area: 'href', img: 'src', source: 'src', video: 'src', audio: 'src', iframe: 'src' };
function resolve(address) {
  if (typeof address !== 'string') return address;
  if (address in addresses) return addresses[address];
  if (/^\s*javascript:/i.test(address)) return undefined;
  if (address[0] !== '/' || address[1] === '/') return address;
  const [, path, rest] = /^\/([^?#]*)(.*)$/.exec(address);
  return root + (path === '' ? 'index.html' : /\.[^/]+$/.test(path) ? path : path.replace(/\/$/, '') + '.html') + rest;
}
const before = options.vnode;
options.vnode = (v) => {
  const name = typeof v.type === 'string' && holders[v.type];
  if (name && v.props[name] !== undefined) v.props[name] = resolve(v.props[name]);
  const style = typeof v.type === 'string' && v.props.style;
  if (style && /javascript:/i.test(typeof style === 'string' ? style : Object.values(style).join())) v.props.style = undefined;
  if (before) before(v);
};

// The frame of a built-in component is what it looked like at export; only what
// stands in it is drawn anew.
const Places = createContext(null);
function plain(v) {
  if (typeof v === 'function' || typeof v === 'symbol') return undefined;
  if (typeof v === 'bigint') return String(v);
  if (holdsElement(v)) return null;
  if (Array.isArray(v)) return v.map((x) => { const p = plain(x); return p === undefined ? null : p; });
  if (v !== null && typeof v === 'object') {
    const out = {};
    for (const name of Object.keys(v)) { const p = plain(v[name]); if (p !== undefined) out[name] = p; }
    return out;
  }
  return typeof v === 'number' && !isFinite(v) ? String(v) : v;
}
function holdsElement(v) {
  return compat.isValidElement(v) || Array.isArray(v) && v.some(holdsElement);
}
function frameKey(name, props) {
  const said = [];
  for (const k of Object.keys(props).sort()) {
    if (k === 'children' || k === 'ref' || props[k] === undefined || props[k] === null || typeof props[k] === 'function') continue;
    said.push([k, plain(props[k])]);
  }
  return name + JSON.stringify(said);
}
function handlers(props) {
  const out = {};
  for (const name of Object.keys(props)) if (/^on[A-Z]/.test(name) && typeof props[name] === 'function') out[name] = props[name];
  return out;
}
function Frame({ name, of }) {
  const places = useContext(Places);
  const key = frameKey(name, of);
  const place = useRef(null);
  const [hole, setHole] = useState(null);
  useLayoutEffect(() => {
    const nodes = places.take(key);
    if (!nodes) { setHole(place.current); return; }
    place.current.replaceChildren(...nodes);
    // What stands in frames of its own has holes of its own.
    const found = place.current.querySelector('bindery-hole');
    if (found) found.textContent = '';
    setHole(found);
    return () => places.give(key, nodes);
  }, [key]);
  return h(Fragment, null, h('bindery-frame', { ref: place, ...handlers(of) }), hole && compat.createPortal(of.children, hole));
}
react.builtin = (name) => {
  const builtin = (props) => h(Frame, { name, of: props });
  builtin.displayName = name;
  return builtin;
};

// placesOf keeps what the export put into an island: the frames, and what the
// page says between the island's tags. The first to ask for one gets the very
// elements, with all that other scripts attached to them.
function placesOf(island) {
  const all = new Map();
  const shells = [];
  let holds = false;
  for (const element of island.querySelectorAll('bindery-frame, bindery-hole, bindery-content')) {
    if (element.parentElement.closest('bindery-island') !== island) continue;
    const nodes = Array.from(element.childNodes);
    shells.push([element, nodes]);
    if (element.localName === 'bindery-hole') continue;
    const key = element.localName === 'bindery-frame' ? element.dataset.frame : content;
    holds = holds || key === content;
    if (!all.has(key)) all.set(key, { fresh: [], copy: nodes.map((n) => n.cloneNode(true)) });
    all.get(key).fresh.push(nodes);
  }
  return {
    holds,
    take(key) {
      const place = all.get(key);
      if (!place) return null;
      return place.fresh.shift() || place.copy.map((n) => n.cloneNode(true));
    },
    give(key, nodes) {
      all.get(key).fresh.unshift(nodes);
    },
    restore() {
      for (const [element, nodes] of shells) {
        element.replaceChildren(...nodes);
        element.removeAttribute('data-kept');
      }
    },
  };
}

const content = '$children';
function Content() {
  const places = useContext(Places);
  const place = useRef(null);
  useLayoutEffect(() => {
    const nodes = places.take(content);
    place.current.replaceChildren(...nodes);
    return () => places.give(content, nodes);
  }, []);
  return h('bindery-content', { ref: place });
}

// What fails here leaves what the export showed.
class Guard extends Component {
  componentDidCatch(error) {
    this.props.fail(error);
    this.setState({ failed: true });
  }
  render() { return this.state.failed ? null : this.props.children; }
}

react.start = (makes, page) => {
  addresses = page.addresses || {};
  root = page.root;
  makes.forEach((make, i) => {
    const island = document.querySelector('bindery-island[data-island="' + i + '"]');
    if (!island) return;
    const shown = Array.from(island.childNodes);
    const places = placesOf(island);
    const children = places.holds ? h(Content) : null;
    let failed = false;
    const fail = (error) => {
      if (failed) return;
      failed = true;
      console.error(error);
      delete island.dataset.live;
      places.restore();
      island.replaceChildren(...shown);
    };
    const live = document.createElement('bindery-live');
    const App = () => make(page.props[i], children);
    island.replaceChildren(live); // effects find it in the document
    try {
      render(h(Guard, { fail }, h(Places.Provider, { value: places }, h(App))), live);
      if (!failed) island.dataset.live = '';
    } catch (error) {
      fail(error);
    }
  });
};

window.BinderyIslands = react;
