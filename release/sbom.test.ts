import { describe, expect, it } from 'vitest'
import { findSbomProblems } from './sbom.ts'

const packageOf = (name: string, versionInfo: string) => ({
  SPDXID: `SPDXRef-Package-${name.replaceAll(/[@/]/g, '.')}-${versionInfo}`,
  name,
  versionInfo,
  downloadLocation: 'NOASSERTION',
  licenseDeclared: 'MIT',
})
const product = packageOf('watchhouse', '0.1.0')
const zod = packageOf('zod', '4.6.7')
const client = packageOf('@clickhouse/client', '1.23.1')
const sbom = {
  spdxVersion: 'SPDX-2.3',
  dataLicense: 'CC0-1.0',
  SPDXID: 'SPDXRef-DOCUMENT',
  name: 'watchhouse@0.1.0',
  documentNamespace: 'http://spdx.org/spdxdocs/watchhouse-0.1.0',
  creationInfo: { created: '2026-11-28T08:00:00Z', creators: ['Tool: npm/cli-11.19.1'] },
  packages: [product, zod, client],
  relationships: [
    { spdxElementId: 'SPDXRef-DOCUMENT', relatedSpdxElement: product.SPDXID, relationshipType: 'DESCRIBES' },
    { spdxElementId: zod.SPDXID, relatedSpdxElement: product.SPDXID, relationshipType: 'DEPENDENCY_OF' },
  ],
}
const lock = {
  version: '0.1.0',
  packages: {
    '': { version: '0.1.0' },
    web: { version: '0.1.0' },
    'node_modules/web': { link: true },
    'node_modules/zod': { version: '4.6.7' },
    'node_modules/@clickhouse/client': { version: '1.23.1' },
    'node_modules/@clickhouse/client/node_modules/zod': { version: '4.6.7' },
    'node_modules/vitest': { version: '5.1.1', dev: true },
    'node_modules/@libsql/linux-x64-gnu': { version: '0.5.0', optional: true },
  },
}

describe('the SBOM', () => {
  it('lists every required package, and may list optional ones', () => {
    expect(findSbomProblems(sbom, lock)).toEqual([])
    const optional = packageOf('@libsql/linux-x64-gnu', '0.5.0')
    expect(findSbomProblems({ ...sbom, packages: [...sbom.packages, optional] }, lock)).toEqual([])
  })

  it.each([
    ['lacks a package', { packages: [product, zod] }, 'SBOM lacks "@clickhouse/client@1.23.1", a dependency'],
    ['has another version', { packages: [product, packageOf('zod', '4.0.0'), client] }, 'SBOM lacks "zod@4.6.7"'],
    ['lists a tool', { packages: [...sbom.packages, packageOf('vitest', '5.1.1')] }, 'SBOM lists "vitest@5.1.1"'],
    ['lists a package twice', { packages: [...sbom.packages, zod] }, 'SBOM has an identifier twice'],
    ['describes nothing', { relationships: [] }, 'SBOM does not state which package it describes'],
    [
      'has a fraction of a second',
      { creationInfo: { ...sbom.creationInfo, created: '2026-11-28T08:00:00.123Z' } },
      'created',
    ],
    ['has another version of SPDX', { spdxVersion: 'SPDX-2.2' }, 'spdxVersion'],
    ['has no namespace', { documentNamespace: undefined }, 'documentNamespace'],
    [
      'has an invalid identifier',
      { packages: [{ ...product, SPDXID: 'SPDXRef-@' }, zod, client] },
      'packages.0.SPDXID',
    ],
    ['has no license', { packages: [product, { ...zod, licenseDeclared: undefined }, client] }, 'licenseDeclared'],
  ])('is rejected if it %s', (_what, change, problem) => {
    expect(findSbomProblems({ ...sbom, ...change }, lock)).toEqual(
      expect.arrayContaining([expect.stringContaining(problem)]),
    )
  })
})
