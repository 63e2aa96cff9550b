/**
 * `signalbox completion`: a small shell script that asks this program what can come next, so it never falls behind the
 * commands. It contains the path of the program, which need not be on the PATH.
 */
import { fileURLToPath } from 'node:url';
import { EXIT } from '../exit-codes.ts';
import { CliError } from '../problem.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/signalbox.js', import.meta.url));

export async function completion(shell: string): Promise<void> {
  const make = SCRIPTS[shell];
  if (make === undefined)
    throw new CliError(
      `Shell "${shell}" is not supported.`,
      `Use one of ${Object.keys(SCRIPTS).join(', ')}.`,
      EXIT.usage,
    );
  process.stdout.write(make(`${quoted(process.execPath)} ${quoted(PROGRAM)} __complete`));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const SCRIPTS: Readonly<Record<string, (ask: string) => string>> = {
  bash: (ask) => `# signalbox completion for bash: source <(signalbox completion bash)
_signalbox() {
  local word what typed="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS=$'\\t' read -r word what; do
    case "$word" in
      :file) mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$typed"); compopt -o filenames 2>/dev/null ;;
      :folder) mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$typed"); compopt -o filenames 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <(${ask} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _signalbox signalbox
`,
  zsh: (ask) => `#compdef signalbox
# signalbox completion for zsh: source <(signalbox completion zsh), after compinit
_signalbox() {
  local word what paths
  local -a found
  while IFS=$'\\t' read -r word what; do
    case "$word" in
      :*) paths="\${word#:}" ;;
      *) found+=("\${word//:/\\\\:}:$what") ;;
    esac
  done < <(${ask} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe 'signalbox' found
  case "$paths" in
    file) _files ;;
    folder) _files -/ ;;
  esac
}
compdef _signalbox signalbox
`,
  fish: (ask) => `# signalbox completion for fish: signalbox completion fish > ~/.config/fish/completions/signalbox.fish
function __signalbox_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (${ask} $words[2..-1] 2>/dev/null)
    switch $line
      case ':file'
        __fish_complete_path (commandline -ct)
      case ':folder'
        __fish_complete_directories (commandline -ct)
      case ':*'
      case '*'
        printf '%s\\n' $line
    end
  end
end
complete -c signalbox -f -a '(__signalbox_complete)'
`,
};
