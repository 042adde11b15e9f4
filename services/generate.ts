import { existsSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FormatConfig, format } from 'oxfmt'
import { buildTimeSettings } from '#shared/config/build-time.ts'
import { processSettings } from '#shared/config/process.ts'
import { type SettingsGroup, formatSettingsReference } from '#shared/config/reference.ts'
import type { ServiceConfig } from '#shared/lifecycle/service.ts'
import { generateChannelList } from './generate/channel-list.ts'
import { releasedContractsPath, formatReleaseLines } from './generate/contracts.ts'

interface GeneratedFile {
  /** The path from the root of the repository. */
  path: string
  content: string
  /** Whether `.oxfmtrc.json` excludes the file from formatting. */
  isUnformatted?: boolean
}

const root = join(import.meta.dirname, '..')

/**
 * Writes all generated files. `--check` only reports outdated files and fails; `--release` also records the contracts.
 */
const main = async (isCheck: boolean, isRelease: boolean): Promise<void> => {
  if (isRelease) await writeFile(join(root, releasedContractsPath), await formatReleaseLines())
  await writeGenerated(await generateChannelList(), isCheck)
  for (const generate of await listGenerators()) {
    const generated = await generate()
    if (generated) await writeGenerated(generated, isCheck)
  }
}

const writeGenerated = async ({ path, content, isUnformatted }: GeneratedFile, isCheck: boolean): Promise<void> => {
  const formatted = isUnformatted ? content : await formatFile(path, content)
  const present = await readFile(join(root, path), 'utf8').catch(() => undefined)
  if (present === formatted) return
  console.log(isCheck ? `${path} is outdated; run \`npm run generate\`` : path)
  if (isCheck) process.exitCode = 1
  else await writeFile(join(root, path), formatted)
}

const generateSettingsReference = async (): Promise<GeneratedFile> => {
  const owners = (await readdir(join(root, 'services'))).toSorted()
  const groups: SettingsGroup[] = [{ title: 'Every process', settings: processSettings }]
  for (const owner of owners) {
    const file = join(root, 'services', owner, 'config.ts')
    if (!existsSync(file)) continue
    const { settings }: ServiceConfig = await import(file)
    groups.push({ title: owner, settings })
  }
  groups.push({ title: 'Build of the web', settings: buildTimeSettings })
  return { path: 'services/shared/config/REFERENCE.md', content: formatSettingsReference(groups) }
}

/** Returns one function per generated file; each returns undefined if this machine cannot generate its file. */
const listGenerators = async (): Promise<readonly (() => Promise<GeneratedFile | undefined>)[]> => {
  const { chartFileGenerators } = await import('./generate/chart/files.ts')
  const { generateOpenApiDocument: openApiDocument } = await import('./generate/openapi/document.ts')
  const { generateRuleNames: ruleNames } = await import('./generate/rule-names.ts')
  const { generateRouteTypes: routeTypes } = await import('./generate/route-types.ts')
  return [generateSettingsReference, routeTypes, openApiDocument, ruleNames, ...chartFileGenerators]
}

/** Formats the content with the settings of the repository, so that the format check and `--check` agree. */
const formatFile = async (path: string, content: string): Promise<string> => {
  const options: FormatConfig = JSON.parse(await readFile(join(root, '.oxfmtrc.json'), 'utf8'))
  const { code, errors } = await format(path, content, options)
  if (errors.length > 0)
    throw new Error(`${path} cannot be formatted: ${errors.map((error) => error.message).join('; ')}`)
  return code
}

await main(process.argv.includes('--check'), process.argv.includes('--release'))
