// Stands for elkjs in graph.js: the host runs elk.js the first time.
export default function ELK() {
  if (!globalThis.elk) globalThis.loadELK()
  return new globalThis.elk()
}
