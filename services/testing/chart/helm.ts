import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { z } from 'zod'
import { findProgram } from '../servers/server-source.ts'
import { root } from '../source-file.ts'

/** Names of the values files of the chart: one for each supported profile. */
export const profileValuesFiles = ['values.yaml', 'values-single.yaml', 'values-ha.yaml'] as const

/** The path of a values file with hosts, which the chart requires. */
export const hostsValuesFile = 'helm/tests/values-hosts.yaml'

const maxOutputBytes = 16 * 1024 * 1024

export interface ProgramResult {
  code: number
  output: string
}

/** Runs a program that `.ci/chart-tools` installs, in the root of the repository. */
export const runChartTool = async (
  name: string,
  parameters: readonly string[],
  input?: string,
): Promise<ProgramResult> => {
  const program = findProgram(name)
  if (program === undefined) throw new Error(`program "${name}" not found; run .ci/chart-tools to install it`)
  const running = promisify(execFile)(program, parameters, { cwd: root, maxBuffer: maxOutputBytes })
  running.child.stdin?.end(input)
  try {
    const { stdout, stderr } = await running
    return { code: 0, output: stdout === '' ? stderr : stdout }
  } catch (error) {
    const { code, stdout, stderr } = Failed.parse(error)
    return { code, output: `${stdout}${stderr}` }
  }
}

const Failed = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() })

/** A Kubernetes object that the chart renders. */
export const RenderedObject = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
export type RenderedObject = z.infer<typeof RenderedObject>

/** Renders the chart with values files and single values. Returns the manifest as text. */
export const renderText = async (
  values: readonly string[],
  set: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const files = values.flatMap((file) => ['--values', file])
  const single = Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const { code, output } = await runChartTool('helm', [
    'template',
    'watchhouse',
    'helm',
    '-n',
    'watchhouse',
    ...files,
    ...single,
  ])
  if (code !== 0) throw new Error(output)
  return output
}

/** Renders the chart with values files and single values. Returns the Kubernetes objects. */
export const renderObjects = async (
  values: readonly string[],
  set?: Readonly<Record<string, string>>,
): Promise<RenderedObject[]> =>
  loadAll(await renderText(values, set))
    .filter((one) => one != null)
    .map((one) => RenderedObject.parse(one))

export const resolveProfilePath = (name: (typeof profileValuesFiles)[number]): string => join('helm', name)

/** Returns values that enable every optional object of a profile. */
export const listOptionalValues = (name: string): Record<string, string> =>
  name === 'values-single.yaml'
    ? optionalValues
    : { ...optionalValues, 'services.ingest.autoscaling.type': 'keda', 'services.mcp.autoscaling.type': 'hpa' }

const optionalValues = {
  'ingress.enabled': 'true',
  'ingress.hosts[0]': 'watch.example.com',
  'gatewayApi.enabled': 'true',
  'gatewayApi.parentRefs[0].name': 'public',
  'monitoring.podMonitor.enabled': 'true',
  'monitoring.rules.enabled': 'true',
  'monitoring.dashboards.enabled': 'true',
}
