import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import adapterStatic from '@sveltejs/adapter-static'
import { sveltekit } from '@sveltejs/kit/vite'
import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'
import { buildFacts } from './build-time/build-facts.ts'
import { docText, docTexts } from './build-time/doc-texts.ts'
import { edgeHeaders, isEdgeBuild } from './build-time/edge-build.ts'
import { docsFolder, inlined } from './build-time/inlined.ts'

const proto = fileURLToPath(new URL('../proto', import.meta.url))
/** Stands in for the component in which the icons of the package frame themselves. */
const ownIcon = fileURLToPath(new URL('src/lib/ui/icon.svelte', import.meta.url))
/** Texts of the documentation, which an installation may bring itself; they end with the reference of all settings, which is generated. */
const docs = [
  ...docTexts(docsFolder(process.env)),
  docText(
    'settings',
    readFileSync(new URL('../services/shared/config/REFERENCE.md', import.meta.url), 'utf8'),
    'Settings reference',
  ),
]
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const facts = buildFacts(version, process.env)

/** An edge platform compresses what it serves, and is told of the files what the gateway else says of them. */
const onEdge = isEdgeBuild(process.env)
const pages = adapterStatic({ pages: 'build', fallback: 'index.html', precompress: !onEdge })

/** The static build and, beside it, the facts and texts that the gateway reads. */
const adapter: typeof pages = {
  ...pages,
  async adapt(builder) {
    await pages.adapt(builder)
    writeFileSync('build/build.json', `${JSON.stringify(facts, null, 2)}\n`)
    if (onEdge) writeFileSync('build/_headers', edgeHeaders)
    // Who may read them is for the gateway to say, so their name begins with a dot, which no file has that it serves to everybody.
    writeFileSync('build/.docs.json', JSON.stringify(docs))
  },
}

/**
 * What many pages share comes in few files: most installations are reached by HTTP/1.1, where sixty small ones wait for one another.
 * What fewer pages share stays apart, so that the others do not load it. SvelteKit reads its version when its own modules are first run,
 * which must be after the start script has told it, so the start script must not need the file that they are in.
 */
const groups = [
  { name: 'start', test: /vite\/preload-helper|runtime\/client\/payload\.js/, priority: 2 },
  { name: 'kit', test: /@sveltejs\/kit\/src\/runtime\/(?!client\/entry\.js)/, priority: 1 },
  { name: 'common', minShareCount: 10 },
  { name: 'icons', test: /@lucide/, minShareCount: 3 },
]

/**
 * Has V8 read all functions of a file ahead, beside the main thread while the file still comes; else the main thread reads each when it
 * is first called, which took a third of the time that a first page does anything.
 */
const readAhead = '//# allFunctionsCalledOnLoad'

export default defineConfig({
  plugins: [
    tailwindcss(),
    sveltekit({
      adapter,
      // Named after the commit, so that the inline start script, and with it its hash, is the same for the same source.
      version: { name: facts.gitSha ?? version },
      // All of it: a page that waits for a second answer before it shows anything waits longest on the slowest line.
      inlineStyleThreshold: 2 ** 20,
    }),
  ],
  define: inlined(facts),
  resolve: {
    alias: [
      { find: '#proto', replacement: proto },
      { find: /^\.\.\/Icon\.svelte$/, replacement: ownIcon },
    ],
  },
  // The first browsers with `light-dark()`, on which both themes rest.
  build: { cssTarget: ['chrome123', 'firefox121', 'safari17.5'] },
  environments: {
    client: { build: { rolldownOptions: { output: { codeSplitting: { groups }, postBanner: readAhead } } } },
  },
  server: { proxy: { '/api': 'http://localhost:3000' }, fs: { allow: [proto] } },
})
