import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import { Shade } from './theme.tsx';
import data from './data.json';

// Counter has state, an effect, and a value that it remembers.
export const Counter = ({ start = 0, children }) => {
  const [count, setCount] = useState(start);
  const [ready, setReady] = useState(false);
  const square = useMemo(() => count * count, [count]);
  const add = useCallback(() => setCount((n) => n + 1), []);
  useEffect(() => { setReady(true); }, []);
  return (
    <div className={ready ? 'counter ready bg-[#fffbe6] dark:bg-[#332b00]' : 'counter'}>
      <button type="button" className="rounded-md border px-2" onClick={add}>Count: {count}</button>
      <output className={count > 2 ? 'text-[#a00101] dark:text-[#ffb3b3]' : 'text-[#004400] dark:text-[#b3ffb3]'}> square {square} of {data.units[0]}</output>
      {children}
    </div>
  );
};

// Field keeps the focus and what was typed.
export function Field() {
  const input = useRef(null);
  const [words, dispatch] = useReducer((list, word) => word === null ? [] : [...list, word], []);
  const add = (event) => {
    event.preventDefault();
    if (input.current.value) dispatch(input.current.value);
    input.current.value = '';
    input.current.focus();
  };
  return (
    <form onSubmit={add} className="field">
      <label>Word <input ref={input} defaultValue="first" /></label>
      <button>Add</button>
      <ul>{words.map((w, i) => <li key={i}>{w}</li>)}</ul>
    </form>
  );
}

export const Shaded = () => <Shade.Provider value="dark"><Name /></Shade.Provider>;

function Name() {
  const { shade } = useShade();
  return <span className="shade">The shade is {shade}.</span>;
}

import { useShade } from './theme';
