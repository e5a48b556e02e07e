/** The style sheet of the page: one block, no fonts and no images to fetch. */
import { paletteStyle } from './palette.ts';

/** The sheet, colours first. */
export function pageStyle(): string {
  return `${paletteStyle()}\n${SHEET}`;
}

const SHEET = `
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;overflow-wrap:anywhere}
main,header,footer{max-width:1320px;margin:0 auto;padding:0 24px}
header{padding-top:28px}
h1,h2,h3{line-height:1.25;margin:0;text-wrap:balance;overflow-wrap:anywhere}
h1{font-size:17px;font-weight:600}
h2{font-size:27px;letter-spacing:-.01em}
h3{font-size:17px;margin-bottom:10px}
a{color:var(--client0)}
:focus-visible{outline:3px solid var(--client0);outline-offset:2px}
.skip{position:absolute;left:-9999px}.skip:focus{left:8px;top:8px;background:var(--paper);padding:6px 10px}
.faint{color:var(--soft)}
.badge{display:inline-block;padding:1px 9px;border:1px solid currentColor;border-radius:99px;font-size:13px;font-weight:600;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--danger)}.open{color:var(--caution)}
nav ul{list-style:none;margin:8px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:4px 20px}
article,section.card{background:var(--paper);border:1px solid var(--line);border-radius:12px;padding:26px 28px;margin:20px 0}
article>section,article>figure,article>details{margin:26px 0 0}
.story{margin:16px 0 0;padding:0;max-width:76ch;font-size:17px}
.story div{display:grid;grid-template-columns:6.2em 1fr;gap:0 10px;margin:6px 0}
.story dt{font-weight:600;color:var(--soft)}
.story dd{margin:0;overflow-wrap:anywhere}
.story .however dt{color:var(--danger)}
.facts{display:flex;flex-wrap:wrap;gap:4px 22px;margin:14px 0 0;padding:0;list-style:none;font-size:14px;color:var(--soft)}
.facts b{color:var(--ink);font-weight:600;overflow-wrap:anywhere}
figure{margin:0}figure+figure{margin-top:26px}
figcaption{font-size:14px;color:var(--soft);margin:0 0 10px;max-width:86ch}
figcaption b{color:var(--ink)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--paper)}
svg{display:block}
svg.sequence{margin:0 auto;max-width:100%;height:auto;min-width:820px}
svg.scale{width:100%;height:auto;min-width:760px}
.key{display:flex;flex-wrap:wrap;gap:6px 22px;list-style:none;margin:12px 0 0;padding:0;font-size:14px;color:var(--soft)}
.key li{display:flex;align-items:center;gap:8px}
table{border-collapse:collapse;width:100%;font-size:14px}
caption{text-align:left;color:var(--soft);padding:0 0 8px;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--soft);font-weight:600;border-bottom-width:2px;overflow-wrap:normal}
tbody th{font-weight:600}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.part td,tr.part th{background:var(--tint)}
tr:target td,tr:target th{outline:2px solid var(--client0);outline-offset:-2px}
summary{cursor:pointer;font-weight:600;padding:4px 0}
pre{margin:8px 0 0;padding:12px 14px;background:var(--page);border:1px solid var(--line);border-radius:8px;overflow-x:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.commands{display:grid;grid-template-columns:max-content 1fr;gap:4px 14px;margin:0;align-items:baseline}
.commands dt{color:var(--soft);font-size:14px}.commands dd{margin:0;min-width:0}
code{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.notes{margin:8px 0 0;padding-left:20px;font-size:14px;color:var(--soft)}
.system{margin-top:24px}
footer{padding:4px 24px 40px;font-size:14px;color:var(--soft)}
@media (max-width:640px){article,section.card{padding:18px 16px}.story div{grid-template-columns:1fr}h2{font-size:22px}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media print{body{background:none}article,section.card{border:0;padding:0}.scroll{overflow:visible;border:0}svg.sequence{max-width:100%;height:auto}nav,.skip{display:none}tr,.key,.story{break-inside:avoid}}
`;
