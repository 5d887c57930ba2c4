// Converts colored terminal lines to a self-contained SVG.
const FONT = 13
const LINE = 19
const LETTER = 7.83
const MARGIN = 18
const BAR = 34

const colors = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#76e3ea' }
const PLAIN = '#d6deeb'
const PROMPT = '#82aaff'
const COMMENT = '#7f8c98'

/** Returns an SVG of terminal lines with a title. */
export function terminalSvg(lines, title) {
  const all = trimmed(lines)
  const columns = Math.max(60, ...all.map((line) => [...withoutColours(line)].length))
  const width = Math.ceil(columns * LETTER + 2 * MARGIN)
  const height = BAR + all.length * LINE + MARGIN
  const texts = all.map((line, i) => text(line, BAR + (i + 1) * LINE - 4)).filter(Boolean)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1420"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, i) => `<circle cx="${20 + i * 18}" cy="17" r="5.5" fill="${fill}"/>`,
    ),
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="${FONT}" fill="${PLAIN}" xml:space="preserve">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function trimmed(lines) {
  const first = lines.findIndex((line) => line.trim() !== '')
  return lines.slice(Math.max(0, first))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what colors begin with.
const CODE = /\x1b\[([\d;]*)m/

const withoutColours = (line) =>
  line
    .split(CODE)
    .filter((_, i) => i % 2 === 0)
    .join('')

function text(line, y) {
  if (line.trim() === '') return ''
  const at = `x="${MARGIN}" y="${y}"`
  if (line.startsWith('$ ')) return `<text ${at} font-weight="bold" fill="${PROMPT}">${escaped(line)}</text>`
  if (line.startsWith('# ')) return `<text ${at} fill="${COMMENT}">${escaped(line)}</text>`
  return `<text ${at}>${spans(line)}</text>`
}

/** Splits a line into spans. Every second part is a color code, which applies to the text after it. */
function spans(line) {
  const look = { bold: false, dim: false, color: '' }
  return line
    .split(CODE)
    .map((part, i) => {
      if (i % 2 === 1) for (const code of part.split(';')) apply(look, Number(code))
      return i % 2 === 1 || part === '' ? '' : span(part, look)
    })
    .join('')
}

function apply(look, code) {
  if (code === 0) Object.assign(look, { bold: false, dim: false, color: '' })
  else if (code === 1) look.bold = true
  else if (code === 2) look.dim = true
  else if (code === 22) Object.assign(look, { bold: false, dim: false })
  else if (code === 39) look.color = ''
  else if (colors[code]) look.color = colors[code]
}

function span(part, { bold, dim, color }) {
  const styles = [bold ? ' font-weight="bold"' : '', dim ? ' fill-opacity="0.6"' : '', color ? ` fill="${color}"` : '']
  const style = styles.join('')
  return style === '' ? escaped(part) : `<tspan${style}>${escaped(part)}</tspan>`
}

const escaped = (words) =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
