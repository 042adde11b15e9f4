import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { z } from 'zod'
import { fetchJson } from '../services/testing/fetch-json.ts'
import { startProcess } from '../services/testing/product/product-process.ts'
import { reserveFreePort } from '../services/testing/servers/port.ts'

/** A place of the repository that contains the version of the product. */
export interface VersionReference {
  where: string
  version: string | undefined
}

const Package = z.object({ version: z.string() })
const Lock = Package.extend({ packages: z.looseObject({ '': Package, web: Package }) })
const Chart = Package.extend({ appVersion: z.string() })
const FirstLine = z.object({ release: z.string() })
const Document = z.object({ info: Package })

/** Returns the version in every file that contains it. The first one is the version to release. */
export const readVersions = async (folder: string): Promise<VersionReference[]> => {
  const read = (path: string) => readFile(join(folder, path), 'utf8')
  const lock = Lock.parse(JSON.parse(await read('package-lock.json')))
  const chart = Chart.parse(load(await read('helm/Chart.yaml')))
  const dockerfile = await read('services/Dockerfile')
  const contracts = await read('services/generate/contracts.jsonl')
  return [
    { where: 'package.json', version: Package.parse(JSON.parse(await read('package.json'))).version },
    { where: 'web/package.json', version: Package.parse(JSON.parse(await read('web/package.json'))).version },
    { where: 'package-lock.json', version: lock.version },
    { where: 'package-lock.json (root package)', version: lock.packages[''].version },
    { where: 'package-lock.json (web)', version: lock.packages.web.version },
    { where: 'helm/Chart.yaml (version)', version: chart.version },
    { where: 'helm/Chart.yaml (appVersion)', version: chart.appVersion },
    { where: 'services/Dockerfile', version: /^ARG VERSION=(\S+)/m.exec(dockerfile)?.[1] },
    {
      where: 'services/generate/contracts.jsonl',
      version: FirstLine.parse(JSON.parse(contracts.split('\n')[0] ?? '')).release,
    },
  ]
}

/** Starts the product and returns the version in the OpenAPI document that it serves. */
export const readServedVersion = async (): Promise<VersionReference> => {
  const port = await reserveFreePort()
  const variables = { COLUMNDB_HOST: unreachableHost, HOST: '127.0.0.1', PORT: String(port) }
  await using _product = await startProcess({ services: [], variables, operationsPort: await reserveFreePort() })
  const { body } = await fetchJson(`http://127.0.0.1:${port}/api/v1/openapi.json`)
  return { where: 'the OpenAPI document', version: parseServedVersion(body) }
}

/** The product starts with any host, and does not need to reach it. */
export const unreachableHost = 'http://127.0.0.1:1'

/** Returns the version in an OpenAPI document. */
export const parseServedVersion = (document: unknown): string => Document.parse(document).info.version

/** Returns the places whose version differs from the first one. */
export const findVersionProblems = ([first, ...others]: readonly VersionReference[]): string[] => {
  if (first?.version === undefined) return []
  return others
    .filter(({ version }) => version !== first.version)
    .map(
      ({ where, version }) =>
        `version "${version ?? ''}" in ${where} differs from "${first.version}" in ${first.where}; set the same version`,
    )
}
