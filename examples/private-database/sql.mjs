// Runs SQL as the application would: logged in with the claim's connection Secret. Needs no psql.
//   node examples/private-database/sql.mjs "select current_user"
// :database and :user stand for the names that the claim got.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const [statement = 'select current_user, current_database()', claim = 'postgresqlinstance/app'] = process.argv.slice(2)
const crosstie = fileURLToPath(new URL('../bin/crosstie.js', import.meta.resolve('crosstie')))
const args = [crosstie, 'connection', claim, '--show', '--format', 'json']
const { host, port, username, password, database } = JSON.parse(
  execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
)
const names = { ':database': pg.escapeIdentifier(database), ':user': pg.escapeIdentifier(username) }
const client = new pg.Client({ host, port: Number(port), user: username, password, database })
await client.connect()
try {
  const { command, rows } = await client.query(statement.replace(/:(database|user)\b/g, (name) => names[name]))
  if (rows.length > 0) console.table(rows)
  else console.log(command)
} finally {
  await client.end()
}
