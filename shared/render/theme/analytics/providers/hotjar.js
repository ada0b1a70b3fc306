window.hj = window.hj || function () { (window.hj.q = window.hj.q || []).push(arguments); };
window._hjSettings = { hjid: Number(s.hjid), hjsv: Number(s.hjsv) };
load("https://static.hotjar.com/c/hotjar-" + encodeURIComponent(s.hjid) + ".js?sv=" + encodeURIComponent(s.hjsv));
