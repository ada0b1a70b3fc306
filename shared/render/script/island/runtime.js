// Elements, hooks and contexts as they are when a component is shown first. What
// is shown is written as plain data: texts, and objects with t (a tag or the
// name of a built-in component), p (attributes), c (content), and for built-in
// components b and k (the key of its frame).
(function (global) {
  'use strict';
  var live = false; // something may change later, or waits for the reader
  var contexts = new Map();
  var ids = 0, place = ''; // of useId

  // The engine knows no locales, and takes the name of one for a radix.
  Object.defineProperty(Number.prototype, 'toLocaleString', { configurable: true, writable: true, value: function (locale, options) {
    var n = Number(this), o = options || {}, known = ['minimumFractionDigits', 'maximumFractionDigits'];
    if (locale !== undefined && !/^en\b/i.test(String(locale)) || Object.keys(o).some(function (k) { return known.indexOf(k) < 0; })) {
      throw new RangeError('there are no locales at the export but English: ask for other forms of numbers in an effect or a handler');
    }
    if (!isFinite(n)) return n !== n ? 'NaN' : n < 0 ? '-∞' : '∞';
    var least = o.minimumFractionDigits || 0, most = o.maximumFractionDigits === undefined ? Math.max(least, 3) : o.maximumFractionDigits;
    // As in browsers, the digits that are rounded are those that are written.
    var said = String(Math.abs(n));
    if (said.indexOf('e') >= 0) said = Math.abs(n) > 1 ? String(BigInt(Math.abs(n))) : '0';
    var parts = said.split('.'), rest = parts[1] || '';
    if (rest.length > most) {
      var digits = String(Math.round(Number(said + 'e' + most))).padStart(most + 1, '0');
      parts[0] = digits.slice(0, digits.length - most);
      rest = digits.slice(digits.length - most);
    }
    while (rest.length > least && rest[rest.length - 1] === '0') rest = rest.slice(0, -1);
    rest = rest.padEnd(least, '0');
    return (n < 0 ? '-' : '') + parts[0].replace(/\B(?=(?:\d{3})+$)/g, ',') + (rest && '.' + rest);
  } });

  function Fragment(props) { return props.children; }
  function isElement(v) { return v !== null && typeof v === 'object' && v.$element === true; }
  function h(type, given) {
    var props = {}, key, ref;
    for (var name in given || {}) {
      if (name === 'key') key = given[name];
      else if (name === 'ref') ref = given[name];
      else props[name] = given[name];
    }
    if (arguments.length > 3) props.children = Array.prototype.slice.call(arguments, 2);
    else if (arguments.length === 3) props.children = arguments[2];
    if (type === Error) type = React.builtin('Error'); // authors' <Error>
    if (type && type.defaultProps) for (var d in type.defaultProps) if (props[d] === undefined) props[d] = type.defaultProps[d];
    return { $element: true, type: type, props: props, key: key, ref: ref };
  }
  function jsx(type, props, key) {
    var e = h(type, props);
    if (key !== undefined) e.key = key;
    return e;
  }
  function flat(children, out) {
    if (Array.isArray(children)) children.forEach(function (c) { flat(c, out); });
    else if (children !== undefined && children !== null && typeof children !== 'boolean') out.push(children);
    return out;
  }

  function Component(props, context) { this.props = props; this.context = context; this.state = this.state || {}; }
  Component.prototype.isReactComponent = {};
  Component.prototype.setState = function () {};
  Component.prototype.forceUpdate = function () {};

  function createContext(initial) {
    var context = { $context: true, initial: initial };
    context.Provider = { $provider: context };
    context.Consumer = { $consumer: context };
    return context;
  }
  function valueOf(context) {
    var stack = contexts.get(context);
    return stack && stack.length ? stack[stack.length - 1] : context.initial;
  }
  function nothing() {}
  function same(fn) { return fn; }

  var hooks = {
    useState: function (initial) { live = true; return [typeof initial === 'function' ? initial() : initial, nothing]; },
    useReducer: function (reducer, initial, make) { live = true; return [make ? make(initial) : initial, nothing]; },
    useMemo: function (make) { return make(); },
    useCallback: same,
    useRef: function (initial) { return { current: initial }; },
    useContext: valueOf,
    useEffect: function () { live = true; },
    useLayoutEffect: function () { live = true; },
    useInsertionEffect: function () { live = true; },
    useImperativeHandle: nothing,
    useDebugValue: nothing,
    useId: function () { ids += 1; return 'i' + place + '_' + ids; },
    useDeferredValue: same,
    useTransition: function () { live = true; return [false, function (fn) { fn(); }]; },
    useSyncExternalStore: function (subscribe, read, atExport) { live = true; return (atExport || read)(); }
  };

  var React = Object.assign({
    h: h, createElement: h, jsx: jsx, jsxs: jsx, jsxDEV: jsx, Fragment: Fragment, Component: Component, PureComponent: Component,
    createContext: createContext, isValidElement: isElement,
    createRef: function () { return { current: null }; },
    cloneElement: function (e, props) {
      var all = Object.assign({}, e.props, props);
      var args = [e.type, all].concat(Array.prototype.slice.call(arguments, 2));
      var made = h.apply(null, args);
      if (made.key === undefined) made.key = e.key;
      return made;
    },
    memo: function (type) { return { $wraps: type }; },
    forwardRef: function (render) { return { $forwards: render }; },
    lazy: function () { return { $waits: true }; },
    Suspense: { $suspends: true },
    StrictMode: Fragment,
    startTransition: function (fn) { fn(); },
    Children: {
      toArray: function (c) { return flat(c, []); },
      map: function (c, fn) { return flat(c, []).map(fn); },
      forEach: function (c, fn) { flat(c, []).forEach(fn); },
      count: function (c) { return flat(c, []).length; },
      only: function (c) { return flat(c, [])[0]; }
    },
    createPortal: function (children) { return h(Fragment, null, children); },
    version: '18'
  }, hooks);
  React.default = React;

  function text(out, s) {
    if (s === '') return;
    if (out.length && typeof out[out.length - 1] === 'string') out[out.length - 1] += s;
    else out.push(s);
  }
  function holdsElement(v) {
    return isElement(v) || Array.isArray(v) && v.some(holdsElement);
  }
  function plain(v) {
    if (typeof v === 'function' || typeof v === 'symbol') return undefined;
    if (typeof v === 'bigint') return String(v);
    if (holdsElement(v)) return { $shown: show(v, []) };
    if (Array.isArray(v)) return v.map(function (x) { var p = plain(x); return p === undefined ? null : p; });
    if (v !== null && typeof v === 'object') {
      var out = {};
      Object.keys(v).forEach(function (name) { var p = plain(v[name]); if (p !== undefined) out[name] = p; });
      return out;
    }
    return typeof v === 'number' && !isFinite(v) ? String(v) : v;
  }
  function attributes(props) {
    var out = {};
    Object.keys(props).forEach(function (name) {
      if (name === 'children' || name === 'ref') return;
      if (typeof props[name] === 'function') { live = true; return; }
      var v = plain(props[name]);
      if (v !== undefined && v !== null) out[name] = v;
    });
    return out;
  }
  function component(type, props, out) {
    if (type.prototype && (type.prototype.render || type.prototype.isReactComponent)) {
      live = true;
      var instance = new type(props, type.contextType ? valueOf(type.contextType) : undefined);
      instance.props = props;
      if (type.getDerivedStateFromProps) instance.state = Object.assign({}, instance.state, type.getDerivedStateFromProps(props, instance.state));
      return show(instance.render(props, instance.state), out);
    }
    return show(type(props), out);
  }
  function show(v, out) {
    if (v === undefined || v === null || typeof v === 'boolean') return out;
    if (typeof v === 'string') { text(out, v); return out; }
    if (typeof v === 'number' || typeof v === 'bigint') { text(out, String(v)); return out; }
    if (Array.isArray(v)) { v.forEach(function (x) { show(x, out); }); return out; }
    if (typeof v === 'function') throw new TypeError('a function is no content: is it meant to be called?');
    if (!isElement(v)) {
      if (typeof v[Symbol.iterator] === 'function') return show(Array.from(v), out);
      if (typeof v.then === 'function') throw new TypeError('a promise is no content');
      throw new TypeError('an object is no content: {' + Object.keys(v).join(', ') + '}');
    }
    var type = v.type, props = v.props;
    if (typeof type === 'string') {
      out.push({ t: type, p: attributes(props), c: props.dangerouslySetInnerHTML ? [] : show(props.children, []) });
      return out;
    }
    if (typeof type === 'function') return component(type, props, out);
    if (type === null || typeof type !== 'object') throw new TypeError('the component of an element is ' + (typeof type === 'object' ? 'null' : type === undefined ? 'undefined' : 'a ' + typeof type));
    if (type.$children) { out.push({ t: '$children' }); return out; }
    if (type.$builtin) {
      var p = attributes(props);
      out.push({ t: type.$builtin, b: true, p: p, k: React.frameKey(type.$builtin, p), c: show(props.children, []) });
      return out;
    }
    if (type.$wraps) return show(Object.assign({}, v, { type: type.$wraps }), out);
    if (type.$forwards) return show(type.$forwards(props, v.ref || null), out);
    if (type.$suspends) return show(props.children, out);
    if (type.$waits) { live = true; return out; }
    if (type.$consumer) return show(props.children(valueOf(type.$consumer)), out);
    if (type.$provider || type.$context) {
      var context = type.$provider || type;
      if (!contexts.has(context)) contexts.set(context, []);
      contexts.get(context).push(props.value);
      try { return show(props.children, out); } finally { contexts.get(context).pop(); }
    }
    throw new TypeError('an element has no type that can be shown');
  }

  // frameKey names the frame of a built-in component by what it says. The
  // reader's side has the same function.
  React.frameKey = function (name, props) {
    return name + JSON.stringify(Object.keys(props).sort().map(function (k) { return [k, props[k]]; }), function (k, v) {
      return v && v.$shown ? null : v;
    });
  };
  React.builtin = function (name) { return { $builtin: name }; };
  global.$react = React;
  global.React = React;
  global.$children = h({ $children: true });
  global.$show = function (make, props, number) {
    live = false;
    place = String(number);
    var nodes = show(h(function () { return make(props, global.$children); }), []);
    return JSON.stringify({ nodes: nodes, live: live });
  };
})(globalThis);
