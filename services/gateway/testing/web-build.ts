import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BuildFacts } from '#proto/http/build.ts'
import type { DocText } from '#proto/http/docs.ts'

/** A folder with a web that was built with these variables; whoever asks for it removes it. */
export const buildWebWith = async (client: BuildFacts['client']): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-web-'))
  const facts: BuildFacts = { version: '1.0.0', gitSha: null, gitRef: null, builtAt: null, client }
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>web</title>')
  await writeFile(join(folder, 'build.json'), JSON.stringify(facts))
  const docs: DocText[] = [{ id: 'getting-started', title: 'Getting started', text: '# Getting started\n\nRun it.\n' }]
  await writeFile(join(folder, '.docs.json'), JSON.stringify(docs))
  return folder
}
