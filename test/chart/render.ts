import { spawnSync } from "node:child_process";

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom: readonly object[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources: object;
  readonly securityContext: object;
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

export interface PodSpec {
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly persistentVolumeClaim?: object }[];
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext: object;
  readonly imagePullSecrets?: readonly object[];
}

export type Labels = Readonly<Record<string, string>>;

/** An object for Kubernetes, with the parts that the tests read of the kinds that have them. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Labels; readonly annotations?: Labels };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a different one for each kind
  readonly spec: any;
}

export interface Rendered {
  /** The default values with those of the operator. */
  readonly values: object;
  readonly notes: string;
  readonly manifests: readonly Manifest[];
}

/** Renders the chart like `helm template`. @param values of the operator @throws Error with the message of the chart */
export function render(values: object, release = "parley", namespace = "default"): Rendered {
  const args = ["deploy/helm/parley", release, namespace];
  const { status, stdout, stderr } = spawnSync("dist/chart/render", args, {
    input: JSON.stringify(values), // is YAML, too
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Rendered;
}
