// What all services have in common. A folder that is opened without a server is
// nobody's visit.
if (!/^https?:$/.test(location.protocol)) return;
function load(src, attributes, then) {
  var e = document.createElement("script");
  e.async = true;
  for (var name in attributes) e.setAttribute(name, attributes[name]);
  if (then) e.onload = then;
  e.src = src;
  document.head.appendChild(e);
}
