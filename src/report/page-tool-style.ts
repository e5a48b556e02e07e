/** The style sheet of what the page's script moves, and of what stands beside a finding. */

/** The sheet, to follow `pageStyle`. */
export function toolStyle(): string {
  return SHEET;
}

const SHEET = `
[hidden]{display:none!important}
html{scroll-padding-top:72px}[data-pictures]{scroll-margin-top:-60px}
p,dt,figcaption,caption{overflow-wrap:anywhere}
header{display:grid;grid-template-columns:1fr auto;gap:6px 16px;align-items:start}
header nav{grid-column:1/-1}
h1{overflow-wrap:anywhere;min-width:0}
button{font:inherit;font-size:14px;color:var(--ink);background:var(--page);border:1px solid var(--soft);border-radius:8px;padding:5px 11px;cursor:pointer}
button:hover{border-color:var(--client0);color:var(--client0)}
button:disabled{color:var(--soft);cursor:default;border-style:dashed}
input,select{font:inherit;font-size:14px;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:6px;padding:3px 6px;max-width:100%;accent-color:var(--client0)}
input[type=number]{width:7.5em}
.story{font-size:15px}
.systems{margin:0 0 16px;padding:0;list-style:none}.systems>li{margin:6px 0;overflow-wrap:anywhere}
.stepper{position:sticky;top:0;z-index:2;display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;background:var(--paper);border:1px solid var(--line);border-radius:8px;padding:8px 12px;margin-bottom:12px}
.stepper p{margin:0;flex:1 1 20em;min-width:0;font-size:14px;overflow-wrap:anywhere}
.buttons{display:flex;flex-wrap:wrap;gap:6px}
.switches,.filter{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:center;margin:0 0 12px;font-size:14px}
fieldset{display:flex;flex-wrap:wrap;gap:4px 14px;border:0;margin:0;padding:0;min-width:0}
fieldset legend{float:left;padding:0 12px 0 0;color:var(--soft)}
fieldset label{overflow-wrap:anywhere;min-width:0}
.filter label{max-width:100%;min-width:0}.filter p{margin:0;color:var(--soft)}
.table{overflow-x:auto}.table+.table{margin-top:18px}
button[aria-pressed=true]::before{content:'✓ '}
tr.now td,tr.now th{background:var(--cursor)}tr.now a{color:var(--ink)}
tr.now th::before{content:'▸ '}
.states{margin:26px 0}
.states p{margin:0 0 10px}
.state{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr));gap:10px;list-style:none;margin:0;padding:0;font-size:14px}
.state li{border:1px solid var(--line);border-radius:8px;padding:8px 12px;min-width:0;overflow-wrap:anywhere}
.state dl{margin:4px 0 0;display:grid;grid-template-columns:minmax(0,7.6em) minmax(0,1fr);gap:2px 10px}
.state dt{color:var(--soft)}.state dd{margin:0}
.changed bdi{font-weight:600}.mark{color:var(--caution);font-weight:600;white-space:nowrap}
.beside p{max-width:86ch;margin:8px 0}
.beside figure{margin-top:14px}
.knobs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:12px 24px;align-items:start;font-size:14px;margin-bottom:12px}
.knob{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;min-width:0;overflow-wrap:anywhere}
.knob input[type=range]{flex:1 1 100%;padding:0}
.knob input[aria-invalid=true]{border-color:var(--danger);outline:1px solid var(--danger)}.knob .bad{flex:1 1 100%}.stale{filter:grayscale(1);opacity:.55}
.knobs button{justify-self:start;align-self:end}
.plainly{margin:14px 0 0;padding-left:22px;max-width:80ch;font-size:17px}.plainly li{overflow-wrap:anywhere}.plainly li::marker{color:var(--soft);font-size:13px}
.matrix td,.matrix th{padding:6px 14px 6px 0}
.matrix .rate{display:block;color:var(--soft);font-size:13px}
@media (max-width:640px){main,header,footer{padding-left:12px;padding-right:12px}article,section.card{padding:16px 12px}.commands{grid-template-columns:1fr}.commands dd{margin-bottom:6px}th,td{padding-right:8px}.stepper button{padding:5px 8px}dl.commands code{overflow-wrap:anywhere}.stepper{position:static}}
@media print{.stepper,.switches,.filter,[data-try],[data-no-try],[data-theme-switch]{display:none!important}article,section.card{break-before:auto}figure,.state li{break-inside:avoid}details:not([open])>*{display:none}svg.scale,svg.sequence{min-width:0;max-width:100%}}
`;
