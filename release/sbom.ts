import { z } from 'zod'

const Identifier = z.string().regex(/^SPDXRef-[A-Za-z0-9.-]+$/)

/** The fields that SPDX 2.3 requires of a document and of its packages and relationships. */
const Sbom = z.looseObject({
  spdxVersion: z.literal('SPDX-2.3'),
  dataLicense: z.literal('CC0-1.0'),
  SPDXID: z.literal('SPDXRef-DOCUMENT'),
  name: z.string().min(1),
  documentNamespace: z.string().regex(/^[a-z][a-z0-9+.-]*:[^#\s]+$/, 'must be a URI without fragment'),
  creationInfo: z.looseObject({
    created: z.iso.datetime({ precision: 0 }),
    creators: z.array(z.string().regex(/^(Tool|Person|Organization): ./)).min(1),
  }),
  packages: z
    .array(
      z.looseObject({
        SPDXID: Identifier,
        name: z.string().min(1),
        versionInfo: z.string().min(1),
        downloadLocation: z.string().min(1),
        licenseDeclared: z.string().min(1),
      }),
    )
    .min(1),
  relationships: z.array(
    z.looseObject({
      spdxElementId: Identifier,
      relatedSpdxElement: Identifier,
      relationshipType: z.string().regex(/^[A-Z_]+$/),
    }),
  ),
})
type Sbom = z.infer<typeof Sbom>

const LockedPackage = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  optional: z.boolean().optional(),
  /** Whether the package is a workspace. */
  link: z.boolean().optional(),
})
const Lock = z.object({ version: z.string(), packages: z.record(z.string(), LockedPackage) })
type LockedPackage = z.infer<typeof LockedPackage>

/**
 * Returns what is wrong with the SBOM of an image: fields that SPDX 2.3 requires, and differences from the lock file. It
 * lists every package that the product requires, and none that only development requires.
 */
export const findSbomProblems = (sbom: unknown, lockFile: unknown): string[] => {
  const { data, error } = Sbom.safeParse(sbom)
  if (data === undefined)
    return (error?.issues ?? []).map(
      ({ path, message }) => `SBOM is no SPDX 2.3 document: ${path.join('.')}: ${message}`,
    )
  const lock = Lock.parse(lockFile)
  return [...findBrokenReferences(data), ...comparePackages(data, lock)]
}

const findBrokenReferences = ({ SPDXID, packages, relationships }: Sbom): string[] => {
  const ids = new Set([SPDXID, ...packages.map((one) => one.SPDXID)])
  const references = relationships.flatMap((one) => [one.spdxElementId, one.relatedSpdxElement])
  const unknown = new Set(references.filter((id) => !ids.has(id)))
  const describes = relationships.some((one) => one.spdxElementId === SPDXID && one.relationshipType === 'DESCRIBES')
  return [
    ...(ids.size === packages.length + 1 ? [] : ['SBOM has an identifier twice']),
    ...(describes ? [] : ['SBOM does not state which package it describes']),
    ...[...unknown].map((id) => `SBOM refers to "${id}", which it does not list`),
  ]
}

const comparePackages = ({ packages }: Sbom, { version, packages: locked }: z.infer<typeof Lock>): string[] => {
  const listed = new Set(packages.map(({ name, versionInfo }) => `${name}@${versionInfo}`))
  const installed = Object.entries(locked).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link,
  )
  // Packages for other platforms are optional, so the image lacks most of them.
  const required = installed.filter(([, { devOptional, optional }]) => !devOptional && !optional)
  const allowed = new Set([`watchhouse@${version}`, ...installed.map(nameLockedPackage)])
  return [...new Set(required.map(nameLockedPackage).filter((name) => !listed.has(name)))]
    .map((name) => `SBOM lacks "${name}", a dependency in package-lock.json`)
    .concat(
      [...listed]
        .filter((name) => !allowed.has(name))
        .map((name) => `SBOM lists "${name}", which is no production dependency in package-lock.json`),
    )
}

const nameLockedPackage = ([path, { name, version = '' }]: [string, LockedPackage]): string => {
  const folder = 'node_modules/'
  return `${name ?? path.slice(path.lastIndexOf(folder) + folder.length)}@${version}`
}
