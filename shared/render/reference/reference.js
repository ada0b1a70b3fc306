// The form that sends a call, on pages about one. It is made from the model in
// data-model; what is typed stays in this page's memory.
(function () {
  "use strict";

  var make = function (tag, props, children) {
    var e = document.createElement(tag);
    Object.keys(props || {}).forEach(function (k) {
      if (k === "text") e.textContent = props[k];
      else if (props[k] === true) e.setAttribute(k, "");
      else if (props[k] !== false && props[k] !== undefined) e.setAttribute(k, props[k]);
    });
    (children || []).forEach(function (c) { if (c) e.appendChild(c); });
    return e;
  };

  // quote writes a word for a shell.
  var quote = function (s) {
    return /^[\w\-.\/:@=%+,]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'";
  };

  // plain is a part of a parameter as text: JSON where it is no text itself.
  var plain = function (v) { return typeof v === "string" ? v : JSON.stringify(v); };

  // pairs gives a parameter by its style: escaped, as it stands in a query, or
  // for a form, as it is. Samples that are made at export do the same.
  var pairs = function (p, value, form) {
    var parsed, write = form ? String : encodeURIComponent, name = write(p.name);
    if (p.style === "json") return [[name, write(value)]];
    if (p.type === "object" || p.type === "array") {
      try { parsed = JSON.parse(value); } catch (e) { parsed = undefined; }
      if (parsed === undefined && p.type === "array") parsed = value.split(",").map(function (v) { return v.trim(); });
    }
    var between = p.style === "pipeDelimited" ? write("|") : p.style === "spaceDelimited" ? write(" ") : ",";
    if (Array.isArray(parsed)) {
      parsed = parsed.map(function (v) { return write(plain(v)); });
      if (p.explode) return parsed.map(function (v) { return [name, v]; });
      return [[name, parsed.join(between)]];
    }
    if (parsed && typeof parsed === "object") {
      var members = Object.keys(parsed).map(function (k) {
        return [p.style === "deepObject" ? name + "[" + write(k) + "]" : write(k), write(plain(parsed[k]))];
      });
      if (p.explode || p.style === "deepObject" || !members.length) return members;
      return [[name, members.map(function (m) { return m.join(between); }).join(between)]];
    }
    return [[name, write(value)]];
  };

  // simple gives a header by its style, as samples that are made at export do.
  var simple = function (p, value) {
    var parsed;
    if (p.type !== "object" && p.type !== "array" || p.style === "json") return value;
    try { parsed = JSON.parse(value); } catch (e) { return value; }
    if (Array.isArray(parsed)) return parsed.map(plain).join(",");
    if (!parsed || typeof parsed !== "object") return value;
    return Object.keys(parsed).map(function (k) { return k + (p.explode ? "=" : ",") + plain(parsed[k]); }).join(",");
  };

  // formValue quotes a value in which curl would find something else: the name
  // of a file, or what follows a value.
  var formValue = function (v) {
    return /^["@<]|;/.test(v) ? '"' + v.replace(/[\\"]/g, "\\$&") + '"' : v;
  };

  var setUp = function (root) {
    var model;
    try { model = JSON.parse(root.getAttribute("data-bindery-model")); } catch (e) { return; }
    var words = model.words, fields = [], running = null;

    var field = function (label, control, required) {
      return make("label", {}, [make("span", { text: label + (required ? " (" + words.required + ")" : "") }), control]);
    };
    var group = function (title, children) {
      return children.length ? make("fieldset", {}, [make("legend", { text: title })].concat(children)) : null;
    };

    var auth = (model.auth || []).map(function (a) {
      var inputs = a.kind === "basic"
        ? [make("input", { autocomplete: "off", spellcheck: "false" }), make("input", { type: "password", autocomplete: "off" })]
        : [make("input", { type: "password", autocomplete: "off" })];
      inputs[inputs.length - 1].value = a.value || "";
      return { def: a, inputs: inputs };
    });

    var select = function (options) {
      return make("select", {}, options.map(function (o) { return make("option", { value: o, text: o }); }));
    };
    // Where something must be picked, nothing is no option.
    var control = function (p, must) {
      if (p.options && p.options.length) {
        var list = select(must ? p.options : [""].concat(p.options));
        list.value = p.value || "";
        if (list.selectedIndex < 0) list.selectedIndex = 0;
        return list;
      }
      if (p.type === "object") { // JSON
        var text = make("textarea", { spellcheck: "false" });
        text.value = p.value || "";
        return text;
      }
      return make("input", { value: p.value || "", spellcheck: "false", autocomplete: "off" });
    };
    // A single address can be changed; of several, one is picked, and its
    // variables are filled in.
    var single = model.servers.length === 1 && !model.servers[0].vars;
    var server = single
      ? make("input", { type: "url", value: model.servers[0].url, placeholder: "https://", spellcheck: "false" })
      : select(model.servers.map(function (s) { return s.url; }));
    var variables = model.servers.map(function (s) {
      return (s.vars || []).map(function (v) {
        var c = control(v, true);
        return { name: v.name, input: c, label: field(v.name, c) };
      });
    });
    var address = function () {
      if (single) return server.value;
      var url = model.servers[server.selectedIndex].url;
      variables[server.selectedIndex].forEach(function (v) { url = url.split("{" + v.name + "}").join(v.input.value); });
      return url;
    };

    (model.params || []).forEach(function (p) { fields.push({ def: p, input: control(p) }); });
    var place = function (where) {
      return fields.filter(function (f) { return f.def.in === where; });
    };

    // Each content type has an editor of its own, which keeps what is typed.
    var accept = model.accept ? select(model.accept) : null;
    var types = model.bodies ? select(model.bodies.map(function (b) { return b.type; })) : null;
    var editors = (model.bodies || []).map(function (b) {
      var e = { def: b, parts: [], input: null };
      if (b.form) {
        e.parts = b.form.map(function (f) {
          return { def: f, input: f.file ? make("input", { type: "file", multiple: !!f.many, accept: f.accept }) : control(f) };
        });
        e.box = make("div", {}, e.parts.map(function (p) { return field(p.def.name, p.input, p.def.required); }));
      } else {
        e.input = b.file ? make("input", { type: "file", accept: b.type }) : make("textarea", { spellcheck: "false" });
        if (!b.file) e.input.value = b.value || "";
        e.input.setAttribute("aria-label", words.body + " " + b.type);
        e.box = make("div", {}, [e.input]);
      }
      return e;
    });
    var editor = function () { return types ? editors[types.selectedIndex] : { def: {}, parts: [], input: null }; };

    // filled are the parts of the form that there is something in: names, and
    // files or texts.
    var filled = function () {
      return editor().parts.reduce(function (all, p) {
        if (p.def.file) {
          return all.concat(Array.prototype.map.call(p.input.files, function (f) { return { def: p.def, name: p.def.name, file: f }; }));
        }
        return p.input.value ? all.concat(pairs(p.def, p.input.value, true).map(function (x) {
          return { def: p.def, name: x[0], value: x[1] };
        })) : all;
      }, []);
    };

    // request reads the form. With secret false, secrets are placeholders.
    var request = function (secret) {
      var path = model.path, query = [], headers = [], cookies = [], data = null, now = editor();
      place("path").forEach(function (f) {
        if (f.input.value) path = path.split("{" + f.def.name + "}").join(encodeURIComponent(f.input.value));
      });
      place("query").forEach(function (f) { if (f.input.value) query = query.concat(pairs(f.def, f.input.value)); });
      place("header").forEach(function (f) {
        if (f.input.value && !(types && /^content-type$/i.test(f.def.name))) headers.push([f.def.name, simple(f.def, f.input.value)]);
      });
      place("cookie").forEach(function (f) {
        if (f.input.value) cookies.push(pairs(f.def, f.input.value, true).map(function (x) { return x.join("="); }).join("&"));
      });
      auth.forEach(function (a) {
        var value = a.inputs[a.inputs.length - 1].value;
        if (!value) return;
        if (!secret) value = a.def.kind === "key" ? "<api-key>" : "<token>";
        if (a.def.kind === "bearer") value = "Bearer " + value;
        if (a.def.kind === "basic") {
          value = "Basic " + (secret ? btoa(unescape(encodeURIComponent(a.inputs[0].value + ":" + a.inputs[1].value))) : "<credentials>");
        }
        if (a.def.in === "query") query.push([encodeURIComponent(a.def.name), encodeURIComponent(value)]);
        else if (a.def.in === "cookie") cookies.push(a.def.name + "=" + value);
        else headers.push([a.def.name, value]);
      });
      if (accept) headers.push(["Accept", accept.value]);
      if (now.input) {
        data = (now.def.file ? now.input.files[0] : now.input.value) || null;
        if (data) headers.push(["Content-Type", now.def.sent ? (now.def.file && data.type) || now.def.sent : now.def.type]);
      } else if (now.parts.length && !now.def.multipart) headers.push(["Content-Type", now.def.type]);
      var url = address().replace(/\/+$/, "") + path;
      if (query.length) {
        url += (url.indexOf("?") < 0 ? "?" : "&") + query.map(function (q) { return q.join("="); }).join("&");
      }
      return { url: url, headers: headers, cookies: cookies, data: data };
    };

    var command = make("pre", { tabindex: "0", role: "group", "aria-label": "cURL" });
    var show = function () {
      variables.forEach(function (list, i) {
        list.forEach(function (v) { v.label.hidden = i !== server.selectedIndex; });
      });
      editors.forEach(function (e, i) { e.box.hidden = i !== types.selectedIndex; });
      var r = request(false);
      var lines = ["curl --request " + model.method, "--url " + quote(r.url)];
      r.headers.forEach(function (h) { lines.push("--header " + quote(h[0] + ": " + h[1])); });
      if (r.cookies.length) lines.push("--cookie " + quote(r.cookies.join("; ")));
      filled().forEach(function (p) {
        var type = p.def.part ? ";type=" + p.def.part : "";
        if (p.file) lines.push("--form " + quote(p.name + "=@" + p.file.name + type));
        else if (editor().def.multipart) lines.push("--form " + quote(p.name + "=" + formValue(p.value) + type));
        else lines.push("--data-urlencode " + quote(encodeURIComponent(p.name) + "=" + p.value));
      });
      if (r.data) lines.push(r.data.name ? "--data-binary " + quote("@" + r.data.name) : "--data " + quote(r.data));
      command.textContent = lines.join(" \\\n  ");
    };

    var result = make("div", { class: "bdy-playground-result", role: "status" });
    var button = make("button", { type: "submit", text: words.send });
    var form = make("form", { "aria-label": words.try }, [
      group(words.server, variables.reduce(function (all, list) {
        return all.concat(list.map(function (v) { return v.label; }));
      }, [field("URL", server)])),
      group(words.auth, auth.map(function (a) {
        return a.inputs.length > 1
          ? make("div", {}, [field(a.def.scheme + " username", a.inputs[0]), field(a.def.scheme + " password", a.inputs[1])])
          : field(a.def.scheme, a.inputs[0]);
      }).concat(auth.length ? [make("p", { class: "bdy-playground-note", text: words.secrets })] : [])),
    ].concat(["path", "query", "header", "cookie"].map(function (where) {
      return group(words[where], place(where).map(function (f) { return field(f.def.name, f.input, f.def.required); }));
    })).concat([
      group(words.body, editors.length < 2 ? editors.map(function (e) {
        e.box.insertBefore(make("p", { class: "bdy-playground-note", text: e.def.type }), e.box.firstChild);
        return e.box;
      }) : [field(words.type, types)].concat(editors.map(function (e) { return e.box; }))),
      accept && model.accept.length > 1 ? group(words.response, [field(words.answer, accept)]) : null,
      make("div", {}, [make("p", { class: "bdy-playground-note", text: words.request }), command]),
      button, result,
    ]));

    var block = function (label, text) {
      return make("pre", { tabindex: "0", role: "group", "aria-label": label, text: text });
    };
    var answer = function (children) {
      result.replaceChildren.apply(result, children);
    };

    form.addEventListener("input", show);
    form.addEventListener("change", show);
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      if (running) running.abort();
      var mine = running = new AbortController();
      var r = request(true), headers = new Headers(), data = r.data;
      try {
        r.headers.forEach(function (h) { headers.append(h[0], h[1]); });
      } catch (e) {
        answer([make("p", { class: "bdy-playground-failed", text: words.failed + " " + e.message })]);
        return;
      }
      var now = editor();
      if (now.parts.length) {
        data = now.def.multipart ? new FormData() : new URLSearchParams();
        filled().forEach(function (p) {
          if (now.def.multipart && !p.file && p.def.part) data.append(p.name, new Blob([p.value], { type: p.def.part }));
          else data.append(p.name, p.file ? (p.def.part && p.def.part !== p.file.type ? new File([p.file], p.file.name, { type: p.def.part }) : p.file) : p.value);
        });
      }
      var began = performance.now();
      button.disabled = true;
      fetch(r.url, {
        method: model.method, headers: headers, body: model.method === "GET" || model.method === "HEAD" ? undefined : data,
        credentials: model.credentials ? "include" : "omit", signal: mine.signal,
      }).then(function (res) {
        return res.text().then(function (text) {
          if (running !== mine) return;
          var lines = [];
          res.headers.forEach(function (v, k) { lines.push(k + ": " + v); });
          if (/json/.test(res.headers.get("content-type") || "")) {
            try { text = JSON.stringify(JSON.parse(text), null, 2); } catch (e) { /* as it is */ }
          }
          if (text.length > 500000) text = text.slice(0, 500000) + "\n…";
          answer([
            make("p", { text: words.status + ": " + res.status + " " + res.statusText + " · " + words.time + ": " + Math.round(performance.now() - began) + " ms" }),
            lines.length ? block(words.header, lines.join("\n")) : null,
            text ? block(words.response, text) : null,
          ].filter(Boolean));
        });
      }).catch(function (e) {
        if (running !== mine || e.name === "AbortError") return;
        answer([make("p", { class: "bdy-playground-failed", text: words.failed }), make("p", { text: words.refused })]);
      }).then(function () {
        if (running === mine) { running = null; button.disabled = false; }
      });
    });

    // The content type that is picked here is that of the samples too, and the
    // other way round.
    [["request-type", types], ["answer-type", accept]].forEach(function (pick) {
      var set = pick[0], list = pick[1];
      if (!list) return;
      var follow = function (label) {
        Array.prototype.forEach.call(list.options, function (o, i) { if (o.value === label) list.selectedIndex = i; });
        show();
      };
      list.addEventListener("change", function () {
        document.dispatchEvent(new CustomEvent("bindery:pick", { detail: { set: set, label: list.value } }));
      });
      document.addEventListener("bindery:picked", function (e) { if (e.detail.set === set) follow(e.detail.label); });
      var shown = document.querySelector('[data-bindery-group="' + set + '"].bdy-tabbed > .bdy-tab:not([hidden]) > .bdy-tab-title');
      if (shown) follow(shown.textContent.trim());
    });

    root.appendChild(make("details", {}, [make("summary", { text: words.try, class: "tryit-button" }), form]));
    show();
  };

  var start = function () { document.querySelectorAll(".bdy-playground[data-bindery-model]").forEach(setUp); };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
