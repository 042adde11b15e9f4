// Bundles the product and its packages into services/build. `main.mjs` there starts faster than the modules and needs
// less memory, because Node loads fewer files and strips no types. With `--command-line`, bundles only the command line
// as the npm package services/build/cli, which has no dependencies.
import { chmodSync, copyFileSync, cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'
import packageFile from '../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '..')
const ownCode = join(root, 'services')
const isCommandLine = process.argv.includes('--command-line')
const output = join(ownCode, isCommandLine ? 'build/cli' : 'build')

/** The modules that Node starts: the product and the thread that responds to probes, or the command line. */
const entries: Readonly<Record<string, string>> = isCommandLine
  ? { watchhouse: join(ownCode, 'cli/main.ts') }
  : {
      main: join(ownCode, 'main.ts'),
      'operations-listener': join(ownCode, 'shared/lifecycle/operations-listener.ts'),
    }

const embeddedHosts = './sandbox/start.ts'
/** `libsql` loads its native library from the package for the platform. The image has no embedded hosts. */
const unbundled = ['libsql', 'pg-native', ...(existsSync(join(ownCode, embeddedHosts)) ? [] : [embeddedHosts])]

/** A running product still imports the files of its bundle. */
const keptMs = 24 * 60 * 60_000

/** The folder whose rules the command line contains. */
const definitions = join(root, 'charts')
const skills = join(root, 'skills')
const packagedFolders = [definitions, skills]
/** The folder of the fixed statements of tools, which the command line reads from its package. */
const toolStatements = 'query/tools'

const relativeUrl = /new URL\('([^']+)', import\.meta\.url\)/g

/** Adapts the paths of files that modules name relative to themselves. */
const adaptPaths: Plugin = {
  name: 'adapt-paths',
  transform: {
    filter: { code: 'import.meta' },
    handler(code, id) {
      if (!id.startsWith(`${ownCode}/`)) return
      if (code.replaceAll(relativeUrl, '').includes('import.meta.url'))
        throw new Error(`${id} uses import.meta.url in another way than new URL('file', import.meta.url)`)
      const folder = relative(output, dirname(id))
      return code
        .replaceAll(relativeUrl, (_, file: string) => {
          const path = join(dirname(id), file)
          if (isCommandLine && packagedFolders.some((each) => path === each || path.startsWith(`${each}/`)))
            return `new URL('./${relative(root, path)}', import.meta.url)`
          const entry = Object.keys(entries).find((name) => entries[name] === path)
          return `new URL('./${entry ? `${entry}.mjs` : join(folder, file)}', import.meta.url)`
        })
        .replaceAll(
          'import.meta.dirname',
          `(import.meta.dirname + '/${isCommandLine ? relative(ownCode, dirname(id)) : folder}')`,
        )
    },
  },
}

await using bundle = await rolldown({
  cwd: root,
  platform: 'node',
  input: entries,
  external: unbundled,
  plugins: [adaptPaths],
  // The command line also runs on the Node of its users, which may not know `using`.
  ...(isCommandLine && { transform: { target: 'node20' } }),
})
const written = await bundle.write({
  dir: output,
  format: 'esm',
  comments: false,
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
})
const [started = ''] = Object.keys(entries)
const bundledAtMs = statSync(join(output, `${started}.mjs`)).mtimeMs
if (isCommandLine) completePackage(written.output.map(({ fileName }) => fileName))
for (const file of readdirSync(output, { withFileTypes: true })) {
  const path = join(output, file.name)
  if (file.isFile() && statSync(path).mtimeMs < bundledAtMs - keptMs) rmSync(path)
}

/** Adds what the npm package of the command line needs beside its code, and excludes the code of earlier bundles. */
function completePackage(code: readonly string[]): void {
  chmodSync(join(output, 'watchhouse.mjs'), 0o755)
  const isIncluded = (path: string) => statSync(path).isDirectory() || /\.(yaml|md)$/.test(path)
  cpSync(definitions, join(output, 'charts'), { recursive: true, filter: isIncluded })
  cpSync(skills, join(output, 'skills'), { recursive: true, filter: isIncluded })
  cpSync(join(ownCode, toolStatements), join(output, toolStatements), { recursive: true, filter: isIncluded })
  copyFileSync(join(root, 'LICENSE'), join(output, 'LICENSE'))
  copyFileSync(join(root, 'web/docs/9-command-line.md'), join(output, 'README.md'))
  const { name, version, license, type, engines } = packageFile
  const description = 'The command line of Watchhouse, which monitors fleets of ClickHouse hosts'
  const bin = { watchhouse: 'watchhouse.mjs' }
  const files = [...code, 'charts', 'skills', toolStatements]
  const content = { name, version, description, license, type, engines, bin, files }
  writeFileSync(join(output, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}
