// Runs before `npm pack` of a package: copies the license, and the examples for the program.
import { cpSync } from 'node:fs'

const root = new URL('..', import.meta.url)
cpSync(new URL('LICENSE', root), 'LICENSE')
if (process.env['npm_package_name'] === 'crosstie') {
  cpSync(new URL('examples', root), 'examples', {
    recursive: true,
    filter: (path) => !/\/(node_modules|dist)$/.test(path),
  })
}
