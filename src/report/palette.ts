/**
 * The colours of the page, by what they mean, for a light and a dark screen. Pictures carry the
 * light ones as attributes, which survive a policy that forbids styles, and classes that the style
 * sheet recolours.
 */

export interface Shades {
  readonly light: string;
  readonly dark: string;
}

export type Role =
  | 'page'
  | 'paper'
  | 'ink'
  | 'soft'
  | 'line'
  | 'guide'
  | 'idle'
  | 'danger'
  | 'tint'
  | 'good'
  | 'caution'
  | 'onClient'
  | 'cursor'
  | 'client0'
  | 'client1'
  | 'client2'
  | 'client3'
  | 'client4'
  | 'client5';

/** `client…` tell clients apart; `danger` is kept for what broke, `cursor` lies behind text. */
export const PALETTE: Readonly<Record<Role, Shades>> = {
  page: { light: '#f6f7f9', dark: '#0d1117' },
  paper: { light: '#ffffff', dark: '#151a21' },
  ink: { light: '#1b1f24', dark: '#e6edf3' },
  soft: { light: '#57606a', dark: '#9fabb8' },
  line: { light: '#d3d9e0', dark: '#37414c' },
  guide: { light: '#eef1f4', dark: '#1e252d' },
  idle: { light: '#dfe3e8', dark: '#323c47' },
  danger: { light: '#bf1722', dark: '#ff8a82' },
  tint: { light: '#fdeaea', dark: '#3b1a1e' },
  good: { light: '#14713a', dark: '#5fd488' },
  caution: { light: '#855500', dark: '#e5b84e' },
  onClient: { light: '#ffffff', dark: '#0d1117' },
  cursor: { light: '#ffe08a', dark: '#4a3b0c' },
  client0: { light: '#0b5cbd', dark: '#74b6ff' },
  client1: { light: '#9a4a00', dark: '#f2a663' },
  client2: { light: '#0c6b64', dark: '#56d3c4' },
  client3: { light: '#7338bd', dark: '#c8a2ff' },
  client4: { light: '#566100', dark: '#bccb53' },
  client5: { light: '#46505c', dark: '#b2bdc9' },
};

const CLIENTS = [
  'client0',
  'client1',
  'client2',
  'client3',
  'client4',
  'client5',
] as const satisfies readonly Role[];

/** The colour of the client at `index`; after six they repeat. */
export function clientRole(index: number): Role {
  return CLIENTS[index % CLIENTS.length] ?? 'client5';
}

/** Attributes that fill, or stroke, a shape in a role's colour. */
export type Ink = {
  readonly fill: string;
  readonly stroke: string;
  readonly class: string;
};

/** Fill and stroke of a shape, `none` where a role is absent. */
export function ink(roles: { readonly fill?: Role; readonly stroke?: Role }): Ink {
  const { fill, stroke } = roles;
  const classes: string[] = [];
  if (fill !== undefined) classes.push(`f-${fill}`);
  if (stroke !== undefined) classes.push(`s-${stroke}`);
  return {
    fill: fill === undefined ? 'none' : PALETTE[fill].light,
    stroke: stroke === undefined ? 'none' : PALETTE[stroke].light,
    class: classes.join(' '),
  };
}

/** The palette as custom properties, and the classes that `ink` names. */
export function paletteStyle(): string {
  const roles = Object.entries(PALETTE);
  const shades = (shade: keyof Shades): string =>
    roles.map(([role, colours]) => `--${role}:${colours[shade]}`).join(';');
  const classes = roles
    .map(([role]) => `.f-${role}{fill:var(--${role})}.s-${role}{stroke:var(--${role})}`)
    .join('');
  return [
    `:root{color-scheme:light dark;${shades('light')}}`,
    `@media (prefers-color-scheme:dark){:root{${shades('dark')}}}`,
    `:root[data-theme=light]{color-scheme:light;${shades('light')}}`,
    `:root[data-theme=dark]{color-scheme:dark;${shades('dark')}}`,
    `@media print{:root:root{color-scheme:light;${shades('light')}}}`,
    classes,
  ].join('\n');
}
