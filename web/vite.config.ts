import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import adapterStatic from '@sveltejs/adapter-static'
import { sveltekit } from '@sveltejs/kit/vite'
import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'
import { createBuildInfo } from './build-time/build-facts.ts'
import { createDocPage, readDocPages } from './build-time/doc-texts.ts'
import { edgeHeaders, isEdgeBuild } from './build-time/edge-build.ts'
import { resolveDocsFolder, createDefineReplacements } from './build-time/define-replacements.ts'

const proto = fileURLToPath(new URL('../proto', import.meta.url))
/** The module that replaces the icon component of the Lucide package. */
const ownIcon = fileURLToPath(new URL('src/lib/ui/icon.svelte', import.meta.url))
/** The module that replaces `d3-interpolate`, because charts have no scales of colours. */
const numberInterpolation = fileURLToPath(new URL('src/lib/chart/number-interpolation.ts', import.meta.url))
/** Documentation pages, which an installation can replace, followed by the generated settings reference. */
const docs = [
  ...readDocPages(resolveDocsFolder(process.env)),
  createDocPage(
    'settings',
    readFileSync(new URL('../services/shared/config/REFERENCE.md', import.meta.url), 'utf8'),
    'Settings reference',
  ),
]
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const facts = createBuildInfo(version, process.env)

/** Whether to build for an edge platform, which compresses files itself and reads response headers from a file. */
const onEdge = isEdgeBuild(process.env)
const pages = adapterStatic({ pages: 'build', fallback: 'index.html', precompress: !onEdge })

/** Writes the static build, and the build facts and documentation that the gateway reads. */
const adapter: typeof pages = {
  ...pages,
  async adapt(builder) {
    await pages.adapt(builder)
    writeFileSync('build/build.json', `${JSON.stringify(facts, null, 2)}\n`)
    if (onEdge) writeFileSync('build/_headers', edgeHeaders)
    // The gateway serves no file whose name starts with a dot, so that it can control access to the documentation.
    writeFileSync('build/.docs.json', JSON.stringify(docs))
  },
}

/**
 * Modules that many pages share are bundled into few files: over HTTP/1.1, which most installations use, many small
 * files queue up. Modules that few pages share stay separate. The start script must not depend on the `kit` file:
 * SvelteKit's modules read the version as soon as they run, and the start script has to set it first.
 */
const groups = [
  { name: 'start', test: /vite\/preload-helper|runtime\/client\/payload\.js/, priority: 4 },
  { name: 'kit', test: /@sveltejs\/kit\/src\/runtime\/(?!client\/entry\.js)/, priority: 3 },
  { name: 'common', test: /^(?!.*\/src\/lib\/(?:table|sql)\/)/, minShareCount: 10, priority: 2 },
  // Most start pages show charts without tables.
  { name: 'tables', minShareCount: 10, priority: 1 },
  { name: 'icons', test: /@lucide/, minShareCount: 3 },
]

/**
 * Makes V8 compile all functions of a file in the background while it loads. Lazy compilation on the main thread
 * took a third of the time until the first page was usable.
 */
const readAhead = '//# allFunctionsCalledOnLoad'

export default defineConfig({
  plugins: [
    tailwindcss(),
    sveltekit({
      adapter,
      // The version is the commit, so that the inline start script and its hash are the same for the same source.
      version: { name: facts.gitSha ?? version },
      // Inlines all styles, as a second request before the first paint is slow on high-latency connections.
      inlineStyleThreshold: 2 ** 20,
    }),
  ],
  define: createDefineReplacements(facts),
  resolve: {
    alias: [
      { find: '#proto', replacement: proto },
      { find: 'd3-interpolate', replacement: numberInterpolation },
      { find: /^\.\.\/Icon\.svelte$/, replacement: ownIcon },
    ],
  },
  // The first browsers with `light-dark()`, which both themes require.
  build: { cssTarget: ['chrome123', 'firefox121', 'safari17.5'] },
  environments: {
    client: { build: { rolldownOptions: { output: { codeSplitting: { groups }, postBanner: readAhead } } } },
  },
  server: { proxy: { '/api': 'http://localhost:3000' }, fs: { allow: [proto] } },
})
