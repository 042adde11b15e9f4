import { join } from 'node:path'
import { resolveChartToolsPath } from '../servers/server-source.ts'
import { writeCustomResourceSchemas } from './custom-resource-schemas.ts'
import { type ProgramResult, runChartTool } from './helm.ts'

/** Returns the schema locations of kubeconform: for Kubernetes objects, and for custom resources. */
const listSchemaLocations = async (): Promise<string[]> => {
  const kind = '{{ .ResourceKind }}{{ .KindSuffix }}.json'
  const own = join(resolveChartToolsPath('schemas'), '{{ .NormalizedKubernetesVersion }}', kind)
  return [own, join(await writeCustomResourceSchemas(resolveChartToolsPath('kinds')), kind)]
}

let locations: Promise<string[]> | undefined

/** Validates a manifest against the schemas of a Kubernetes release and of custom resources. */
export const validateManifest = async (manifest: string, version: string): Promise<ProgramResult> => {
  locations ??= listSchemaLocations()
  const from = (await locations).flatMap((location) => ['-schema-location', location])
  return runChartTool('kubeconform', ['-strict', '-summary', '-kubernetes-version', version, ...from], manifest)
}
