/** The style of all pages: light or dark, as the system of the reader. */
export const STYLE = `
:root { --ink: #1c2024; --soft: #60646c; --line: #e0e1e6; --paper: #fcfcfd; --raised: #fff; --accent: #0b68cb;
  --good: #218358; --bad: #ce2c31; --busy: #ab6400; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #9ba1a9; --line: #2e3135; --paper: #111113;
  --raised: #18191b; --accent: #70b8ff; --good: #3dd68c; --bad: #ff9592; --busy: #ffca16; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; padding: 1rem 2rem;
  border-bottom: 1px solid var(--line); }
header h1 { font-size: 1.15rem; margin: 0; }
header nav { display: flex; gap: 1rem; margin-left: auto; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 2rem 4rem; }
main.narrow { max-width: 36rem; padding-top: 15vh; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; } h3 { font-size: .95rem; margin: 0; font-weight: 600; }
p { margin: .5rem 0; } .soft { color: var(--soft); }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; }
.count { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; }
.count b { display: block; font-size: 1.6rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.table { overflow-x: auto; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .45rem .9rem; white-space: nowrap; }
th { color: var(--soft); font-weight: 500; font-size: .85rem; } td.wide { white-space: normal; }
tbody tr, details + details { border-top: 1px solid var(--line); }
code, pre, .mono { font-family: var(--mono); font-size: .86em; }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto; }
.state { font-weight: 500; } .good { color: var(--good); } .bad { color: var(--bad); } .busy { color: var(--busy); }
details { background: var(--raised); padding: .2rem 1rem; } summary { cursor: pointer; padding: .5rem 0; }
.group { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.method { display: inline-block; min-width: 4.5em; font: 600 .8em var(--mono); color: var(--accent); }
.method.PUT, .method.POST { color: var(--good); } .method.DELETE { color: var(--bad); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .5rem 0; } dd { margin: 0; }
`;
