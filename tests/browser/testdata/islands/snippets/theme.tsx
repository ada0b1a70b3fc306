import * as React from 'react';

export type Tone = 'light' | 'dark';

export const Shade: React.Context<Tone> = React.createContext<Tone>('light');

export function useShade(): { shade: Tone } {
  return { shade: React.useContext(Shade) };
}

export class Switch extends React.Component<{ label: string }, { on: boolean }> {
  state = { on: false };
  render() {
    return (
      <button className="switch" aria-pressed={this.state.on} onClick={() => this.setState({ on: !this.state.on })}>
        {this.props.label}: {this.state.on ? 'on' : 'off'}
      </button>
    );
  }
}

export const Row = React.memo(({ n }: { n: number }) => <li>row {n}</li>);
