// Bundles the product and its packages into services/build. `main.mjs` there starts faster than the modules and needs
// less memory, because Node loads fewer files and strips no types.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'

const root = join(import.meta.dirname, '..')
const ownCode = join(root, 'services')
const output = join(ownCode, 'build')

/** The modules that Node starts: the product and the thread that responds to probes. */
const entries: Readonly<Record<string, string>> = {
  main: join(ownCode, 'main.ts'),
  'operations-listener': join(ownCode, 'shared/lifecycle/operations-listener.ts'),
}

const embeddedHosts = './sandbox/start.ts'
/** `libsql` loads its native library from the package for the platform. The image has no embedded hosts. */
const unbundled = ['libsql', 'pg-native', ...(existsSync(join(ownCode, embeddedHosts)) ? [] : [embeddedHosts])]

/** A running product still imports the files of its bundle. */
const keptMs = 24 * 60 * 60_000

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
          const entry = Object.keys(entries).find((name) => entries[name] === path)
          return `new URL('./${entry ? `${entry}.mjs` : join(folder, file)}', import.meta.url)`
        })
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${folder}')`)
    },
  },
}

await using bundle = await rolldown({
  cwd: root,
  platform: 'node',
  input: entries,
  external: unbundled,
  plugins: [adaptPaths],
})
await bundle.write({
  dir: output,
  format: 'esm',
  comments: false,
  entryFileNames: '[name].mjs',
  chunkFileNames: '[name]-[hash].mjs',
})
const bundledAtMs = statSync(join(output, 'main.mjs')).mtimeMs
for (const name of readdirSync(output)) {
  const path = join(output, name)
  if (statSync(path).mtimeMs < bundledAtMs - keptMs) rmSync(path)
}
