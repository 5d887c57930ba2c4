// Checks that every decision record has the same head and is listed in docs/decisions/README.md.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = 'docs/decisions'

/** The lines after the title, in this order. */
const HEAD = [
  { name: 'Status', pattern: /^(proposed|accepted|superseded by \[\d{4}\]\(\d{4}-[\w-]+\.md\))$/ },
  { name: 'Date', pattern: /^\d{4}-\d{2}-\d{2}$/ },
  { name: 'Supersedes', pattern: /^(none|\[\d{4}\]\(\d{4}-[\w-]+\.md\)(, \[\d{4}\]\(\d{4}-[\w-]+\.md\))*)$/ },
  { name: 'Code', pattern: /^\[`[^`]+`\]\([^)]+\)(, \[`[^`]+`\]\([^)]+\))*$/ },
]

const TEMPLATE = `the head of a record is:
  # NNNN: Title

  - Status: proposed | accepted | superseded by [NNNN](NNNN-name.md)
  - Date: YYYY-MM-DD
  - Supersedes: none | [NNNN](NNNN-name.md)
  - Code: [\`path\`](../../path), …`

/** Returns one message per problem. */
export function decisionComplaints() {
  const names = readdirSync(FOLDER).filter((name) => name !== 'README.md')
  const list = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  const complaints = names.flatMap((name) => headComplaints(name, readFileSync(join(FOLDER, name), 'utf8')))
  for (const name of names.filter((each) => !list.includes(`(${each})`))) {
    complaints.push(`${FOLDER}/README.md: add ${name} to the list`)
  }
  const numbers = names.map((name) => name.slice(0, 4))
  for (const name of names.filter((_, index) => numbers.indexOf(numbers[index]) !== index)) {
    complaints.push(`${FOLDER}/${name}: another record has the number ${name.slice(0, 4)}`)
  }
  return complaints
}

function headComplaints(name, text) {
  const [title, blank, ...rest] = text.split('\n')
  const wrong = []
  if (!title.startsWith(`# ${name.slice(0, 4)}: `)) wrong.push(`the title must start with '# ${name.slice(0, 4)}: '`)
  if (blank !== '') wrong.push('the title must be followed by an empty line')
  HEAD.forEach(({ name: field, pattern }, index) => {
    const value = new RegExp(`^- ${field}: (.*)$`).exec(rest[index] ?? '')?.[1]
    if (value === undefined || !pattern.test(value)) wrong.push(`line ${index + 3} must be '- ${field}: …'`)
  })
  return wrong.length > 0 ? [`${FOLDER}/${name}: ${wrong.join('; ')}; ${TEMPLATE}`] : []
}
