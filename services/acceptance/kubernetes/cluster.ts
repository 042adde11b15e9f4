import type { CommandOptions } from './command.ts'

/** A version of the product: its image, and the folder of its chart. */
export interface ProductVersion {
  image: { repository: string; tag: string }
  chart: string
}

/** A Kubernetes cluster that scenarios use. */
export interface Cluster {
  /** The product of the working tree. */
  readonly product: ProductVersion
  /** The last release, if a scenario that needs it is selected. */
  readonly lastRelease: ProductVersion | undefined
  /** Whether ClickHouse runs outside of the cluster, at this address. Otherwise the scenarios start it as a pod. */
  readonly clickHouseAddress: string | undefined
  /** Runs kubectl and returns its output. Throws if it fails. */
  kubectl(words: readonly string[], options?: CommandOptions): Promise<string>
  /** Returns the command that runs kubectl, for a program that runs in the background. */
  kubectlCommand(words: readonly string[]): string[]
  /** Runs helm, in the root of the repository. */
  helm(words: readonly string[], options?: CommandOptions): Promise<string>
  /** Kills the first process of a pod with SIGKILL. */
  kill(namespace: string, pod: string): Promise<void>
  /** Creates empty volumes for the next installation, if the cluster does not create volumes itself. */
  prepareVolumes(): Promise<void>
}

/** Applies objects. */
export const applyObjects = (cluster: Cluster, objects: readonly object[]): Promise<string> =>
  cluster.kubectl(['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) })
