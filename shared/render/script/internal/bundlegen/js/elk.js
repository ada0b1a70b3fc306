import ELK from 'elkjs/lib/elk.bundled.js'

globalThis.elk = ELK
