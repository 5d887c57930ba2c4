import { didYouMean } from '../../options/suggest.js'
import { type Command, EXIT_OK, UsageError } from '../command.js'

/** Each script runs `crosstie __complete` for every key, so that kinds and names come from the server. */
const scripts: Readonly<Record<string, string>> = {
  // bash also splits words at ':' and '=', and replaces the text after the last of them.
  bash: `_crosstie() {
  local line=\${COMP_LINE:0:COMP_POINT} last behind
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local IFS=$'\\n'
  COMPREPLY=($(crosstie __complete "\${words[@]:1}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[/=] ]] && compopt -o nospace
  last=\${words[\${#words[@]}-1]}
  behind=\${last##*[:=]}
  COMPREPLY=("\${COMPREPLY[@]#"\${last%"$behind"}"}")
}
complete -o default -F _crosstie crosstie`,
  zsh: `#compdef crosstie
_crosstie() {
  local -a found
  found=("\${(@f)$(crosstie __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "$found[1]" ]]; then _files; return; fi
  compadd -S '' -- "\${(@M)found:#*[/=]}"
  compadd -- "\${(@)found:#*[/=]}"
}
compdef _crosstie crosstie`,
  fish: `function __crosstie_complete
    set -l words (commandline -opc)[2..] (commandline -ct)
    set -l found (crosstie __complete $words 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c crosstie -f -a '(__crosstie_complete)'`,
}

/** The command `crosstie completion`. */
export const completion: Command = {
  name: 'completion',
  usage: 'crosstie completion bash|zsh|fish',
  summary: 'Print a completion script for a shell.',
  examples: [
    { does: 'bash: in ~/.bashrc', line: 'source <(crosstie completion bash)' },
    { does: 'zsh: in ~/.zshrc, after compinit', line: 'source <(crosstie completion zsh)' },
    { does: 'fish', line: 'crosstie completion fish > ~/.config/fish/completions/crosstie.fish' },
  ],
  options: {},
  completes: Object.keys(scripts),
  async run({ words, out }) {
    const [shell = '', ...more] = words
    const known = Object.keys(scripts)
    if (!Object.hasOwn(scripts, shell) || more.length > 0) {
      throw new UsageError(`name one shell: ${known.join(', ')}.${didYouMean(shell, known)}`)
    }
    out(scripts[shell]!)
    return EXIT_OK
  },
}
