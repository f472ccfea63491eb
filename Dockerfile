# Images of the product. The build context is a folder that `node local/main.ts images` lays out:
# sources, the npm packages that each image needs, and the Pulumi programs.
#
# BASE holds Node.js 24 and the libraries that it needs; any image with `node` on PATH serves.
ARG BASE=docker.io/library/node:24-bookworm-slim

# The reference engine, and the order client that the demo and the tests run beside it.
FROM ${BASE} AS engine
COPY engine-packages /app/node_modules
COPY package.json /app/package.json
COPY engine-app /app
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production
ENTRYPOINT ["node", "/app/engine/main.ts"]

# The reconciler, with the Pulumi CLI and the Kubernetes provider that its shape lane runs.
FROM ${BASE} AS operator
COPY pulumi /opt/pulumi
COPY operator-packages /app/node_modules
COPY package.json /app/package.json
COPY operator-app /app
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production PATH=/opt/pulumi/bin:/usr/local/bin:/usr/bin:/bin
ENTRYPOINT ["node", "/app/reconciler/main.ts"]
