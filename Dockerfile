# The images of Fanline: one build, and from it one image a program, which holds that program, what it
# loads, the certificates of authorities, and nothing else: no shell, no package manager.
#   docker build --target fanline-pusher --tag fanline/fanline-pusher:0.1.0 .
#   make images     all of them, with buildah
# BASE is a Debian 12. With PREBUILT=yes the folder prebuilt/ of the context (packaging/prebuild makes it) is
# taken in place of a build; BASE needs the libraries then.
ARG BASE=debian:12-slim

FROM ${BASE} AS build
WORKDIR /fanline
COPY stack/packages.list stack/packages.list
COPY packaging/images packaging/images
ARG PREBUILT=no
RUN packaging/images/install
COPY . .
RUN packaging/images/compile && packaging/images/put-together /images

FROM scratch AS fanline-dispatcher
COPY --from=build /images/fanline-dispatcher /
USER 65532:65532
EXPOSE 9401
ENTRYPOINT ["/usr/bin/fanline-dispatcher"]

FROM scratch AS fanline-pusher
COPY --from=build /images/fanline-pusher /
USER 65532:65532
EXPOSE 9402
ENTRYPOINT ["/usr/bin/fanline-pusher"]

FROM scratch AS fanline-mirror
COPY --from=build /images/fanline-mirror /
USER 65532:65532
EXPOSE 9403
ENTRYPOINT ["/usr/bin/fanline-mirror"]

FROM scratch AS fanline-reconciler
COPY --from=build /images/fanline-reconciler /
USER 65532:65532
EXPOSE 9404
ENTRYPOINT ["/usr/bin/fanline-reconciler"]

FROM scratch AS fanline-api
COPY --from=build /images/fanline-api /
USER 65532:65532
EXPOSE 8080 9405
ENTRYPOINT ["/usr/bin/fanline-api"]

FROM scratch AS feedctl
COPY --from=build /images/feedctl /
USER 65532:65532
ENTRYPOINT ["/usr/bin/feedctl"]
