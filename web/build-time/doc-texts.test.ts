import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readDocPages } from './doc-texts.ts'

const folder = mkdtempSync(join(tmpdir(), 'docs-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('documentation texts', () => {
  it('reports a missing folder', () => {
    expect(() => readDocPages(folder)).toThrow('DOCS_CONTENT_ROOT')
  })

  it('sorts by number, uses the rest as id, and removes the title', () => {
    const files = { '10-api.md': 'Used by\n# code', '2-our-hosts.md': '# Our hosts\n\nThree.\n', 'picture.png': '' }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    expect(readDocPages(folder)).toEqual([
      { id: 'our-hosts', title: 'Our hosts', text: '\nThree.\n' },
      { id: 'api', title: 'API', text: 'Used by\n# code' },
    ])
  })
})
