# Incumbent in a container, for CI systems other than GitHub Actions:
#
#   docker build --tag incumbent .
#   docker run --rm --user "$(id -u)" --volume "$PWD:/platform" incumbent review eval_sets/CUSTOMER/AGENT
#
# The base image and every Python package are pinned by hash. The command runs as a user without rights. The user of the
# container must own the mounted repository, or git refuses to read it.

FROM python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1
WORKDIR /source
COPY requirements/analyse.txt requirements/build.txt requirements/
RUN python -m venv /opt/incumbent \
    && /opt/incumbent/bin/python -m pip install --require-hashes --only-binary :all: --no-deps --requirement requirements/analyse.txt \
    && python -m pip install --require-hashes --only-binary :all: --no-deps --requirement requirements/build.txt
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY dev/project_urls.py dev/
COPY config config
COPY taxonomy taxonomy
COPY bot bot
RUN python -m hatchling build --target wheel --directory /dist \
    && /opt/incumbent/bin/python -m pip install --no-deps --no-index /dist/*.whl \
    && /opt/incumbent/bin/python -m pip uninstall --yes pip

FROM python:3.13.15-slim-trixie@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home incumbent
COPY --from=build /opt/incumbent /opt/incumbent
ENV PATH=/opt/incumbent/bin:$PATH PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /platform
ENTRYPOINT ["incumbent"]
CMD ["--help"]
