import { expect, it } from 'vitest'
import { createBuildInfo } from './build-facts.ts'
import { resolveDocsFolder, createDefineReplacements } from './define-replacements.ts'

const inlinedFrom = (environment: Record<string, string>) =>
  createDefineReplacements(createBuildInfo('1.0.0', environment, () => null))

it.each([
  ['CLIENT_TITLE_SHORT', 'Shop', '"ClickHouse"', '"Shop"'],
  ['CLIENT_LOGO', '/shop.svg', 'null', '"/shop.svg"'],
  ['CLIENT_AUTOCOMPLETE_LIMIT', '20', 'null', '"20"'],
  ['CLIENT_RUNNING_QUERIES_REFRESH_MS', '5000', 'null', '"5000"'],
  ['CLIENT_GIT_SHA', 'abc', 'null', '"abc"'],
  ['CLIENT_GIT_REF', 'v1', 'null', '"v1"'],
  ['CLIENT_BUILD_TIMESTAMP', '2026-01-01T00:00:00Z', 'null', '"2026-01-01T00:00:00Z"'],
  ['CLIENT_CI', 'true', 'null', '"true"'],
])('inlines %s=%s, and defaults to %s', (name, text, without, given) => {
  expect(inlinedFrom({})[`import.meta.env.${name}`]).toBe(without)
  expect(inlinedFrom({ [name]: text })[`import.meta.env.${name}`]).toBe(given)
})

it('reads the documentation from DOCS_CONTENT_ROOT, or from the default folder', () => {
  expect(resolveDocsFolder({ DOCS_CONTENT_ROOT: '/srv/texts' })).toBe('/srv/texts')
  expect(resolveDocsFolder({ DOCS_CONTENT_ROOT: '' })).toMatch(/\/web\/docs$/)
})
